import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/kernel/time.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { openOtlp } from '../../src/roles/proxy.ts'

/** Opens a role's OTLP services while the gRPC port appears to be in use. */
async function openOnTakenPort(about: { grpc_is_optional?: boolean }) {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await using parts = new AsyncDisposableStack()
  parts.defer(() => void other.close())
  const logger = createLogger({ role: 'test', level: 'silent' })
  const warn = vi.spyOn(logger, 'warn')
  const config = {
    otlp_grpc_host: '127.0.0.1',
    otlp_grpc_port: port,
    otlp_body_bytes_max: 1024,
    otlp_inflight_bytes_max: 1024,
    otlp_body_idle_timeout_ms: 1_000,
    otlp_requests_per_minute_max: 0,
    cost_source: 'complete' as const,
  }
  const context = { logger, metrics: createMetrics(), clock: systemClock, parts, ports: {} }
  const { grpc } = await openOtlp(context, config, { keys: noKeys, intake: nothing, ...about })
  return { grpc, warnings: warn.mock.calls.map(([, text]) => text) }
}

const noKeys = { authenticate: () => undefined }
const nothing = {
  enqueuer: { enqueue: async () => 0 },
  capture: () => {
    throw new Error('nothing comes')
  },
}

const advice = /^.*127\.0\.0\.1:\d+ is in use.*: set LOOPTRACE_OTLP_GRPC_PORT to another port/

test('a port in use ends a role that needs it, with the name of the setting', async () => {
  await expect(openOnTakenPort({})).rejects.toThrow(advice)
})

test('role all continues without gRPC, and reports it', async () => {
  const { grpc, warnings } = await openOnTakenPort({ grpc_is_optional: true })
  expect(grpc).toBeUndefined()
  expect(warnings).toEqual([expect.stringMatching(advice)])
})
