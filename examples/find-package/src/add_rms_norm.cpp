// SPDX-License-Identifier: Apache-2.0
// The operator fused_norm::add_rms_norm: its schema, what it does on each device, its gradient.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <cmath>
#include <tuple>

#include "add_rms_norm.h"

namespace fused_norm {
namespace {

using at::Tensor;
using Pair = std::tuple<Tensor, Tensor>;

void check(const Tensor& x, const Tensor& residual, const Tensor& weight) {
  TORCH_CHECK(x.dim() >= 1, "add_rms_norm: x has no dimension to normalise over");
  TORCH_CHECK(x.sizes() == residual.sizes(), "add_rms_norm: x is ", x.sizes(), " and residual is ",
              residual.sizes(), ", they have to be of one shape");
  TORCH_CHECK(weight.dim() == 1 && weight.size(0) == x.size(-1), "add_rms_norm: weight is ",
              weight.sizes(), ", it has to be [", x.size(-1), "]");
  TORCH_CHECK(x.scalar_type() == residual.scalar_type() && x.scalar_type() == weight.scalar_type(),
              "add_rms_norm: x, residual and weight are ", x.scalar_type(), ", ",
              residual.scalar_type(), " and ", weight.scalar_type(),
              ", they have to be of one dtype");
  TORCH_CHECK(x.device() == residual.device() && x.device() == weight.device(),
              "add_rms_norm: x, residual and weight are on ", x.device(), ", ", residual.device(),
              " and ", weight.device(), ", they have to be on one device");
}

int64_t row_count(const Tensor& tensor) {
  return tensor.numel() == 0 ? 0 : tensor.numel() / tensor.size(-1);
}

// ---- CPU

template <typename T>
void forward_rows(const T* x, const T* residual, const T* weight, T* y, T* sum, int64_t begin,
                  int64_t end, int64_t cols, double eps) {
  using S = at::opmath_type<T>;
  for (int64_t i = begin * cols; i < end * cols; i += cols) {
    S squares = 0;
    for (int64_t col = 0; col < cols; ++col) {
      sum[i + col] = static_cast<T>(static_cast<S>(x[i + col]) + static_cast<S>(residual[i + col]));
      const S value = static_cast<S>(sum[i + col]);
      squares += value * value;
    }
    const S scale = S(1) / std::sqrt(squares / static_cast<S>(cols) + static_cast<S>(eps));
    for (int64_t col = 0; col < cols; ++col) {
      y[i + col] =
          static_cast<T>(static_cast<S>(sum[i + col]) * scale * static_cast<S>(weight[col]));
    }
  }
}

Pair forward_cpu(const Tensor& x, const Tensor& residual, const Tensor& weight, double eps) {
  check(x, residual, weight);
  const Tensor in = x.contiguous(), other = residual.contiguous(), scale = weight.contiguous();
  Tensor y = at::empty_like(in), sum = at::empty_like(in);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "add_rms_norm", [&] {
    at::parallel_for(0, row_count(in), 16, [&](int64_t begin, int64_t end) {
      forward_rows(in.data_ptr<scalar_t>(), other.data_ptr<scalar_t>(), scale.data_ptr<scalar_t>(),
                   y.data_ptr<scalar_t>(), sum.data_ptr<scalar_t>(), begin, end, in.size(-1), eps);
    });
  });
  return {y, sum};
}

template <typename T>
void backward_rows(const T* grad_y, const T* grad_sum, const T* sum, const T* weight, T* grad_in,
                   at::opmath_type<T>* grad_weight, int64_t rows, int64_t cols, double eps) {
  using S = at::opmath_type<T>;
  for (int64_t i = 0; i < rows * cols; i += cols) {
    S squares = 0, dot = 0;
    for (int64_t col = 0; col < cols; ++col) {
      const S value = static_cast<S>(sum[i + col]);
      squares += value * value;
      dot += value * static_cast<S>(grad_y[i + col]) * static_cast<S>(weight[col]);
    }
    const S count = static_cast<S>(cols);
    const S scale = S(1) / std::sqrt(squares / count + static_cast<S>(eps));
    const S pull = dot * scale * scale * scale / count;
    for (int64_t col = 0; col < cols; ++col) {
      const S value = static_cast<S>(sum[i + col]), grad = static_cast<S>(grad_y[i + col]);
      grad_in[i + col] = static_cast<T>(scale * grad * static_cast<S>(weight[col]) - value * pull +
                                        static_cast<S>(grad_sum[i + col]));
      grad_weight[col] += grad * value * scale;
    }
  }
}

Pair backward_cpu(const Tensor& grad_y, const Tensor& grad_sum, const Tensor& sum,
                  const Tensor& weight, double eps) {
  const Tensor dy = grad_y.contiguous(), ds = grad_sum.contiguous(), scale = weight.contiguous();
  Tensor grad_in = at::empty_like(sum), grad_weight;
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, sum.scalar_type(), "add_rms_norm_backward", [&] {
        using S = at::opmath_type<scalar_t>;
        grad_weight =
            at::zeros_like(scale, scale.options().dtype(c10::CppTypeToScalarType<S>::value));
        backward_rows(dy.data_ptr<scalar_t>(), ds.data_ptr<scalar_t>(), sum.data_ptr<scalar_t>(),
                      scale.data_ptr<scalar_t>(), grad_in.data_ptr<scalar_t>(),
                      grad_weight.data_ptr<S>(), row_count(sum), sum.size(-1), eps);
      });
  return {grad_in, grad_weight.to(weight.scalar_type())};
}

// ---- CUDA

Type type_of(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return Type::f64;
    case at::kFloat:
      return Type::f32;
    case at::kHalf:
      return Type::f16;
    case at::kBFloat16:
      return Type::bf16;
    default:
      TORCH_CHECK(false, "add_rms_norm: ", tensor.scalar_type(),
                  " is not a floating dtype it knows");
  }
}

Pair forward_gpu(const Tensor& x, const Tensor& residual, const Tensor& weight, double eps) {
  check(x, residual, weight);
  const c10::cuda::CUDAGuard guard(x.device());
  const Tensor in = x.contiguous(), other = residual.contiguous(), scale = weight.contiguous();
  Tensor y = at::empty_like(in), sum = at::empty_like(in);
  if (in.numel() > 0) {
    C10_CUDA_CHECK(forward_cuda(type_of(in), in.data_ptr(), other.data_ptr(), scale.data_ptr(),
                                y.data_ptr(), sum.data_ptr(), row_count(in), in.size(-1), eps,
                                c10::cuda::getCurrentCUDAStream()));
  }
  return {y, sum};
}

Pair backward_gpu(const Tensor& grad_y, const Tensor& grad_sum, const Tensor& sum,
                  const Tensor& weight, double eps) {
  const c10::cuda::CUDAGuard guard(sum.device());
  const Tensor dy = grad_y.contiguous(), ds = grad_sum.contiguous(), scale = weight.contiguous();
  Tensor grad_in = at::empty_like(sum);
  if (sum.numel() == 0) return {grad_in, at::zeros_like(scale)};
  Tensor grad_weight = at::empty_like(scale);
  const auto wide = sum.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  Tensor scratch =
      at::empty({scratch_rows(row_count(sum)), sum.size(-1)}, sum.options().dtype(wide));
  C10_CUDA_CHECK(backward_cuda(type_of(sum), dy.data_ptr(), ds.data_ptr(), sum.data_ptr(),
                               scale.data_ptr(), grad_in.data_ptr(), grad_weight.data_ptr(),
                               scratch.data_ptr(), row_count(sum), sum.size(-1), eps,
                               c10::cuda::getCurrentCUDAStream()));
  return {grad_in, grad_weight};
}

// ---- shapes only, for torch.compile and the meta device

Pair forward_meta(const Tensor& x, const Tensor&, const Tensor&, double) {
  const auto format = at::MemoryFormat::Contiguous;
  return {at::empty_like(x, x.options(), format), at::empty_like(x, x.options(), format)};
}

Pair backward_meta(const Tensor&, const Tensor&, const Tensor& sum, const Tensor& weight, double) {
  return {at::empty_like(sum), at::empty_like(weight)};
}

// ---- autograd

Pair call_forward(const Tensor& x, const Tensor& residual, const Tensor& weight, double eps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("fused_norm::add_rms_norm", "")
                             .typed<decltype(call_forward)>();
  return op.call(x, residual, weight, eps);
}

Pair call_backward(const Tensor& grad_y, const Tensor& grad_sum, const Tensor& sum,
                   const Tensor& weight, double eps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("fused_norm::add_rms_norm_backward", "")
                             .typed<decltype(call_backward)>();
  return op.call(grad_y, grad_sum, sum, weight, eps);
}

struct AddRmsNorm : torch::autograd::Function<AddRmsNorm> {
  using Context = torch::autograd::AutogradContext;
  using List = torch::autograd::variable_list;

  static List forward(Context* context, const Tensor& x, const Tensor& residual,
                      const Tensor& weight, double eps) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto [y, sum] = call_forward(x, residual, weight, eps);
    context->save_for_backward({sum, weight});
    context->saved_data["eps"] = eps;
    return {y, sum};
  }

  static List backward(Context* context, List grads) {
    const List saved = context->get_saved_variables();
    const double eps = context->saved_data["eps"].toDouble();
    auto [grad_in, grad_weight] = call_backward(grads[0], grads[1], saved[0], saved[1], eps);
    return {grad_in, grad_in, grad_weight, Tensor()};
  }
};

// The gradient has no gradient of its own: better said than silently zero.
struct AddRmsNormBackward : torch::autograd::Function<AddRmsNormBackward> {
  using Context = torch::autograd::AutogradContext;
  using List = torch::autograd::variable_list;

  static List forward(Context*, const Tensor& grad_y, const Tensor& grad_sum, const Tensor& sum,
                      const Tensor& weight, double eps) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto [grad_in, grad_weight] = call_backward(grad_y, grad_sum, sum, weight, eps);
    return {grad_in, grad_weight};
  }

  static List backward(Context*, List) {
    TORCH_CHECK(false, "add_rms_norm: second derivatives are not implemented");
  }
};

Pair forward_autograd(const Tensor& x, const Tensor& residual, const Tensor& weight, double eps) {
  const auto result = AddRmsNorm::apply(x, residual, weight, eps);
  return {result[0], result[1]};
}

Pair backward_autograd(const Tensor& grad_y, const Tensor& grad_sum, const Tensor& sum,
                       const Tensor& weight, double eps) {
  const auto result = AddRmsNormBackward::apply(grad_y, grad_sum, sum, weight, eps);
  return {result[0], result[1]};
}

}  // namespace
}  // namespace fused_norm

TORCH_LIBRARY(fused_norm, m) {
  m.def("add_rms_norm(Tensor x, Tensor residual, Tensor weight, float eps) -> (Tensor, Tensor)");
  m.def(
      "add_rms_norm_backward(Tensor grad_y, Tensor grad_sum, Tensor sum, Tensor weight, float eps)"
      " -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(fused_norm, CPU, m) {
  m.impl("add_rms_norm", fused_norm::forward_cpu);
  m.impl("add_rms_norm_backward", fused_norm::backward_cpu);
}

TORCH_LIBRARY_IMPL(fused_norm, CUDA, m) {
  m.impl("add_rms_norm", fused_norm::forward_gpu);
  m.impl("add_rms_norm_backward", fused_norm::backward_gpu);
}

TORCH_LIBRARY_IMPL(fused_norm, Meta, m) {
  m.impl("add_rms_norm", fused_norm::forward_meta);
  m.impl("add_rms_norm_backward", fused_norm::backward_meta);
}

TORCH_LIBRARY_IMPL(fused_norm, Autograd, m) {
  m.impl("add_rms_norm", fused_norm::forward_autograd);
  m.impl("add_rms_norm_backward", fused_norm::backward_autograd);
}
