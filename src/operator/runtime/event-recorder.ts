import { type KubeClient, KubeConflict, type KubeResource } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { apiVersion, type EventDraft, type ResourceMeta } from '../contract.ts'
import { reportingController } from '../names.ts'
import { microTime, type Timing } from './timing.ts'

const events: KubeResource = { group: 'events.k8s.io', version: 'v1', plural: 'events' }

/** Writes events; never throws: a resource must not fail because nobody could be told of it. */
export type EventRecorder = {
  record(about: ResourceMeta, drafts: readonly EventDraft[]): Promise<void>
}

/** The API server refuses more. */
const note_characters_max = 1_024
const name_characters_max = 253
/** A reconcile that has more to tell tells the first ones. */
const events_max = 20

/**
 * Events of `events.k8s.io/v1`, one for each change; the caller decides that something changed, so
 * nothing is gathered into series. A name ends in the time and a random part, as client-go's.
 */
export function createEventRecorder(options: {
  kube: KubeClient
  identity: string
  timing: Timing
  logger: Logger
}): EventRecorder {
  const { kube, identity, timing, logger } = options
  const write = async (about: ResourceMeta, draft: EventDraft) => {
    const now_ms = timing.clock.now_ms()
    const { kind, namespace, name, uid } = about
    await kube.create(events, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace, name: eventName(name, now_ms, timing.random()) },
      eventTime: microTime(now_ms),
      reportingController,
      reportingInstance: identity.slice(0, 128),
      type: draft.type,
      reason: draft.reason,
      action: draft.action,
      note: draft.note.slice(0, note_characters_max),
      regarding: { apiVersion, kind, namespace, name, uid },
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
          logger.warn({ resource: `${about.namespace}/${about.name}`, reason }, 'an event was lost')
        }
      }
    },
  }
}

function eventName(name: string, now_ms: number, random: number): string {
  const ending = `.${now_ms.toString(16)}${Math.floor(random * 0x1_0000_0000).toString(16)}`
  return `${name.slice(0, name_characters_max - ending.length)}${ending}`
}
