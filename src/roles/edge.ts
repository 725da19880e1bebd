import {
  type CompletionProxy,
  createCaptureRecorder,
  createProxy,
  createRecorder,
  type ProjectKeys,
  type Recorder,
} from '../capabilities/edge/proxy/index.ts'
import { newId } from '../kernel/ids.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import type { Intake } from './intake.ts'
import type { RoleContext } from './running.ts'

type EdgeConfig = Omit<RoleConfig<'proxy'>, 'nats_url'>

/**
 * Packs records into messages for the queue, or gives them to the intake where a project does not
 * let everything be recorded; flushed when the role ends, before the intake.
 */
export function openRecorder(
  { metrics, clock, logger, parts }: RoleContext,
  config: EdgeConfig,
  { queue, intake }: { queue: Pick<Queue, 'publish' | 'message_bytes_max'>; intake: Intake },
): Recorder {
  const recorder = createRecorder({
    publish: (message) => queue.publish(message),
    frame_bytes: config.record_frame_bytes,
    frame_age_ms: config.record_frame_age_ms,
    get message_bytes_max() {
      return queue.message_bytes_max
    },
    inflight_bytes_max: config.record_inflight_bytes_max,
    clock,
    newId,
    metrics,
    logger,
    onAccepted: (entries) => intake.reporter.accepted(entries),
    capture: createCaptureRecorder(intake),
  })
  parts.defer(() => recorder.close())
  return recorder
}

/** Builds the proxy; whoever listens drains and closes it. */
export function openProxy(
  { metrics, clock, logger }: Pick<RoleContext, 'metrics' | 'clock' | 'logger'>,
  config: EdgeConfig,
  { keys, recorder }: { keys: ProjectKeys; recorder: Recorder },
): CompletionProxy {
  return createProxy({
    keys,
    recorder,
    base_urls: {
      openai: config.openai_base_url,
      anthropic: config.anthropic_base_url,
      gemini: config.gemini_base_url,
      ...(config.scripted_base_url !== undefined && { scripted: config.scripted_base_url }),
    },
    settings: {
      body_bytes_max: config.proxy_body_bytes_max,
      body_bytes_inflight_max: config.proxy_body_bytes_inflight_max,
      capture_request_bytes_max: config.proxy_capture_request_bytes_max,
      capture_response_bytes_max: config.proxy_capture_response_bytes_max,
      connect_timeout_ms: config.proxy_connect_timeout_ms,
      idle_timeout_ms: config.proxy_idle_timeout_ms,
      upstream_connections_max: config.proxy_connections_max,
      upstream_keep_alive_ms: config.proxy_upstream_keep_alive_ms,
      requests_per_minute: config.proxy_requests_per_minute_max,
      usage_refusal_kept_ms: config.proxy_usage_refusal_kept_ms,
    },
    clock,
    metrics,
    logger,
  })
}
