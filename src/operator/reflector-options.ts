import type { KubeClient, KubeObject, KubeResource } from '../platform/kube/index.ts'
import type { Logger } from '../platform/telemetry/index.ts'
import type { OperatorSettings } from './operator-settings.ts'
import type { Timing } from './timing.ts'

/** What a reflector keeps up to date. */
export type ReflectorSink = {
  /** A list begins; what it has comes as `changed`. */
  listing(): void
  changed(object: KubeObject): void
  deleted(object: KubeObject): void
  /** A whole list was read: nothing but these uids is there. */
  listed(uids: ReadonlySet<string>): void
}

export type ReflectorOptions = {
  kube: KubeClient
  resource: KubeResource
  /** All namespaces when undefined. */
  namespace: string | undefined
  label_selector?: string
  metadata_only?: boolean
  sink: ReflectorSink
  timing: Timing
  settings: Pick<
    OperatorSettings,
    'list_page_size' | 'relist_ms' | 'watch_idle_ms' | 'watch_timeout_ms'
  >
  logger: Logger
  /** For metrics: `start`, `timer`, `expired`, `failures`. */
  onList?: (why: string) => void
}

/** From where a watch goes on. */
export type Position = { version: string; listed_ms: number }
