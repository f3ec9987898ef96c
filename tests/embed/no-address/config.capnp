using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);

const worker :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  modules = [
    (name = "main.js", esModule = embed "main.js"),
    (name = "headwise/wasm/headwise-simd128.wasm", wasm = embed "headwise-simd128.wasm"),
  ],
);
