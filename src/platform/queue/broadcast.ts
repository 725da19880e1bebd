import type { Queue } from './contract.ts'

/**
 * Messages to all processes that listen at the moment, at most once and without storage: those of a
 * process that is not connected are lost. The queue of a single machine reaches its own process only.
 */
export type Broadcast = {
  /** Sends a message about a project. Returns false when it cannot be sent now. */
  send(project_id: string, data: Uint8Array): boolean
  /** Starts listening to the messages about a project, including those of this process. */
  listen(project_id: string, listener: BroadcastListener): Listening
}

/** A queue with a broadcast over the same connection. */
export type BroadcastingQueue = Queue & { readonly broadcast: Broadcast }

/** The receiver of messages. */
export type BroadcastListener = {
  onMessage(data: Uint8Array): void
  /** Called when messages may have been lost. */
  onGap(): void
}

/** A listener in use. */
export type Listening = {
  /** Resolves when messages arrive, or soon after if there is no connection. */
  ready: Promise<void>
  stop(): void
}

/** Creates the broadcast within a process. */
export function createLocalBroadcast(): Broadcast {
  const listeners = new Map<string, Set<BroadcastListener>>()
  return {
    send: (project_id, data) => {
      for (const listener of listeners.get(project_id) ?? []) listener.onMessage(data)
      return true
    },
    listen: (project_id, listener) => {
      const own = listeners.get(project_id) ?? new Set()
      listeners.set(project_id, own.add(listener))
      return {
        ready: Promise.resolve(),
        stop: () => {
          own.delete(listener)
          if (own.size === 0) listeners.delete(project_id)
        },
      }
    },
  }
}
