import { createServer } from 'node:http'
import {
  createProxy,
  createRecorder,
  defaultProxySettings,
} from '../../src/capabilities/edge/proxy/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { serveTarget } from '../target-side.ts'

/**
 * The proxy with everything on but the queue: keys, capture, framing; frames are discarded. The
 * difference from the target with a queue is the cost of publishing.
 */
serveTarget(({ upstream }) => {
  const logger = createLogger({ role: 'bench', level: 'warn' })
  const metrics = createMetrics()
  const recorder = createRecorder({
    publish: async () => {},
    frame_bytes: 128 * 1024,
    frame_age_ms: 20,
    message_bytes_max: 1024 * 1024,
    inflight_bytes_max: 64 * 1024 * 1024,
    clock: systemClock,
    newId,
    metrics,
    logger,
  })
  const key = {
    key_id: 'bench',
    project_id: '01900000-0000-7000-8000-000000000001',
    scopes: new Set(['proxy:write'] as const),
    environment: 'bench',
  }
  const keys = new Map([['lt_benchkey_0123456789abcdefghijABCDEFGHIJ', key]])
  const proxy = createProxy({
    keys: { authenticate: (value) => keys.get(value) },
    recorder,
    base_urls: { openai: `${upstream}/v1` },
    settings: defaultProxySettings,
    clock: systemClock,
    metrics,
    logger,
  })
  return createServer({ noDelay: true }, (request, response) =>
    proxy.handle(request, response, { endpoint: 'chat.completions' }),
  )
})
