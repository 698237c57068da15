#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lay.sh WORD... -- COMMAND...: a machine's files for COMMAND alone. To be run in a mount namespace; 99 where it
# cannot lay them. Nothing outlives the namespace.
#   kernel=RELEASE[,open|proprietary]   /proc/driver/nvidia/version
#   module=NAME                         /sys/module has this and no other
#   pci=10de:2330                       one more board on the bus; pci=none: an empty bus
#   dev                                 a /dev of its own, with the usual nodes
#   node=/dev/nvidia0:0600              one more node there, with these rights (root owns it)
#   file=/etc/NAME=TEXT                 one more file in /etc
#   empty=FOLDER                        nothing in it
#   container=none|docker|podman        the marks of that kind alone; it comes last
set -e
fail() {
  echo "lay.sh: $1" >&2
  exit 99
}

cover() { mount -t tmpfs -o mode=755 tmpfs "$1" || fail "cannot mount on $1"; }

# A folder for what is put together, on an empty one that every system has: nothing is left on the disk.
scratch=
for folder in /mnt /media /srv; do
  [ -z "$scratch" ] && [ -d $folder ] && [ ! -L $folder ] && scratch=$folder
done
[ -n "$scratch" ] || fail "neither /mnt nor /media nor /srv is there"
cover "$scratch"

lay_kernel() {
  release=${1%%,*}
  words="NVIDIA UNIX x86_64 Kernel Module "
  case $1 in *,open) words="NVIDIA UNIX Open Kernel Module for x86_64 " ;; esac
  cover /proc/driver
  mkdir /proc/driver/nvidia
  echo "NVRM version: $words $release  Tue Sep 2 00:00:00 UTC 2025" > /proc/driver/nvidia/version
  touch -d 2025-09-02 /proc/driver/nvidia/version # the same machine each time
}

boards=0
lay_board() {
  [ "$boards" -gt 0 ] || cover /sys/bus/pci/devices
  boards=$((boards + 1))
  [ "$1" != none ] || return 0
  board=/sys/bus/pci/devices/0000:0$boards:00.0
  mkdir "$board"
  echo "0x${1%%:*}" > "$board/vendor"
  echo "0x${1#*:}" > "$board/device"
  echo 0x030200 > "$board/class"
}

lay_dev() {
  old=$scratch/dev
  mkdir "$old"
  mount --rbind /dev "$old" || fail "cannot bind /dev"
  cover /dev
  for name in null zero full random urandom; do
    touch /dev/$name
    mount --bind "$old/$name" /dev/$name
  done
  ln -s /proc/self/fd /dev/fd
  umount -l "$old"
  rmdir "$old"
}

lay_file() {
  name=${1%%=*}
  place=$scratch/etc
  mkdir "$place" "$place/upper" "$place/work"
  mount -t overlay overlay -o "lowerdir=/etc,upperdir=$place/upper,workdir=$place/work" /etc ||
    fail "no overlay on /etc"
  printf '%s\n' "${1#*=}" > "$name"
}

# Another root that shows the folders of this one, without the files that lie beside them (/.dockerenv).
lay_container() {
  root=$scratch/root
  mkdir "$root"
  for entry in /*; do
    if [ "$entry" = "$scratch" ]; then
      mkdir "$root$entry"
    elif [ -L "$entry" ]; then
      cp -P "$entry" "$root/"
    elif [ -d "$entry" ]; then
      mkdir "$root$entry"
      mount --rbind "$entry" "$root$entry" || fail "cannot bind $entry"
    fi
  done
  cover "$root/run"
  touch "$root/run/nothing"
  mount --bind "$root/run/nothing" "$root/proc/1/cgroup" || fail "cannot bind on /proc/1/cgroup"
  case $1 in
    none) mkdir -p "$root/run/systemd/system" ;;
    docker) touch "$root/.dockerenv" ;;
    podman) touch "$root/run/.containerenv" ;;
  esac
  set_root="$(PATH=$PATH:/usr/sbin:/sbin command -v chroot) $root"
}

set_root=
while [ "$1" != -- ]; do
  value=${1#*=}
  case $1 in
    kernel=*) lay_kernel "$value" ;;
    module=*) cover /sys/module && mkdir "/sys/module/$value" ;;
    pci=*) lay_board "$value" ;;
    dev) lay_dev ;;
    node=*) touch "${value%:*}" && chmod "${value##*:}" "${value%:*}" ;;
    file=*) lay_file "$value" ;;
    empty=*) cover "$value" ;;
    container=*) lay_container "$value" ;;
    *) fail "what is $1?" ;;
  esac
  shift
done
shift
# shellcheck disable=SC2086 # two words, or none
exec $set_root "$@"
