import { createRateLimiter } from '../../../../platform/http/index.ts'
import { createQuietLog } from '../../../../platform/telemetry/index.ts'
import type { OtlpDependencies, OtlpReceiver } from './contract.ts'
import { startGrpc } from './grpc-server.ts'
import { createHttpExport, refuseRequest } from './http-export.ts'
import { createInflightBytes } from './inflight-bytes.ts'
import { createAdmission, type ReceiverServices } from './intake.ts'
import { createLangfuse } from './langfuse.ts'
import { createOtlpMeters } from './meters.ts'
import { createPipeline } from './pipeline.ts'

/** Minimum interval between logs of the same fault. */
const logIntervalMs = 1_000

/** Makes the receiver. It serves gRPC only after `listenGrpc`. */
export function createOtlpReceiver(dependencies: OtlpDependencies): OtlpReceiver {
  const { settings, clock, metrics, logger, keys } = dependencies
  const inflight = createInflightBytes(settings.inflight_bytes_max)
  const meters = createOtlpMeters(metrics, inflight)
  const limiter = createRateLimiter(settings.requests_per_minute)
  const waiting: (() => void)[] = []
  let requests = 0
  let stopping = false
  const services: ReceiverServices = {
    settings,
    clock,
    admit: createAdmission({ keys, limiter, clock, stopping: () => stopping }),
    take: createPipeline(dependencies, meters),
    inflight,
    meters,
    quietLog: createQuietLog(logger, clock, logIntervalMs),
    began: () => {
      requests += 1
    },
    ended: (request) => {
      meters.ended(request)
      requests -= 1
      if (requests === 0) for (const resolve of waiting.splice(0)) resolve()
    },
  }
  const answer = createHttpExport(services)
  return {
    handle: answer,
    handleLangfuse: createLangfuse(services),
    refuse: refuseRequest,
    listenGrpc: (options) => startGrpc(services, options),
    drain: () => {
      stopping = true
      if (requests === 0) return Promise.resolve()
      return new Promise((resolve) => waiting.push(resolve))
    },
  }
}
