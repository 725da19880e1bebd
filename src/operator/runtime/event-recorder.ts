import { type KubeClient, KubeConflict, type KubeResource } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { apiVersion, type EventDraft, type ResourceMeta } from '../contract.ts'
import { reportingController } from '../names.ts'
import { microTime, type Timing } from './timing.ts'

const events: KubeResource = { group: 'events.k8s.io', version: 'v1', plural: 'events' }

/** A writer of events. It never throws: a reconcile must not fail because of an event. */
export type EventRecorder = {
  record(about: EventSubject, drafts: readonly EventDraft[]): Promise<void>
}

/** The object of an event: a resource of Looptrace unless it names another API version. */
type EventSubject = Pick<ResourceMeta, 'kind' | 'namespace' | 'name' | 'uid'> & {
  apiVersion?: string
}

/** Limits of the API server. */
const note_characters_max = 1_024
const name_characters_max = 253
/** Events per reconcile; further ones are dropped. */
const events_max = 20

/**
 * Creates a recorder of `events.k8s.io/v1` events. The caller reports changes only, so events are
 * not aggregated into series. A name ends in the time and a random part, as in client-go.
 */
export function createEventRecorder(options: {
  kube: KubeClient
  identity: string
  timing: Timing
  logger: Logger
}): EventRecorder {
  const { kube, identity, timing, logger } = options
  const write = async (about: EventSubject, draft: EventDraft) => {
    const now_ms = timing.clock.now_ms()
    const { kind, namespace, name, uid } = about
    await kube.create(events, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      // Events about cluster-scoped objects are in this namespace, as in client-go.
      metadata: {
        namespace: namespace || 'default',
        name: eventName(name, now_ms, timing.random()),
      },
      eventTime: microTime(now_ms),
      reportingController,
      reportingInstance: identity.slice(0, 128),
      type: draft.type,
      reason: draft.reason,
      action: draft.action,
      note: draft.note.slice(0, note_characters_max),
      regarding: { apiVersion: about.apiVersion ?? apiVersion, kind, namespace, name, uid },
    })
  }
  return {
    record: async (about, drafts) => {
      for (const draft of drafts.slice(0, events_max)) {
        try {
          await write(about, draft)
        } catch (error) {
          if (error instanceof KubeConflict) continue
          const reason = error instanceof Error ? error.message : String(error)
          logger.warn(
            { resource: `${about.namespace}/${about.name}`, reason },
            'writing an event failed',
          )
        }
      }
    },
  }
}

function eventName(name: string, now_ms: number, random: number): string {
  const ending = `.${now_ms.toString(16)}${Math.floor(random * 0x1_0000_0000).toString(16)}`
  return `${name.slice(0, name_characters_max - ending.length)}${ending}`
}
