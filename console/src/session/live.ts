import { useEffect, useRef } from 'react'
import { currentProject } from '../api/client.ts'

/**
 * A subject of the stream: `tasks`, `incidents`, `findings`, `task:<id>`, `trace:<id>`. The id of a task is
 * percent-encoded.
 */
export type Topic = string

/** Something changed. `isReset`: events or ids are missing, so everything may have. */
export type LiveEvent = { topic: Topic; ids: readonly string[]; isReset: boolean }

type Change = { topics: Topic[]; changed: { id: string }[]; many: boolean }
type Subscription = { topic: Topic; onEvent: (event: LiveEvent) => void }

/** Time to collect the topics of a new screen before the stream is opened. */
const settle_ms = 150
const slowPollMs = 30_000

const subscriptions = new Set<Subscription>()
let stream: EventSource | undefined
let opened = ''
let settling: ReturnType<typeof setTimeout> | undefined

function topics(): string {
  return [...new Set([...subscriptions].map(({ topic }) => topic))].sort().join(',')
}

function close(): void {
  stream?.close()
  stream = undefined
  opened = ''
}

/** Opens one stream for all topics of the tab; none while the tab is hidden. */
function settle(): void {
  clearTimeout(settling)
  settling = setTimeout(() => {
    const [wanted, project_id] = [topics(), currentProject()]
    if (document.hidden || wanted === '' || project_id === undefined) return close()
    const address = `/api/v1/events?${new URLSearchParams({ topics: wanted, project_id })}`
    if (address === opened) return undefined
    close()
    opened = address
    stream = new EventSource(address)
    stream.addEventListener('change', deliver)
    stream.addEventListener('reset', resetAll)
    stream.addEventListener('bye', leave)
    return undefined
  }, settle_ms)
}

function deliver({ data }: MessageEvent<string>): void {
  const { topics, changed, many } = JSON.parse(data) as Change
  const ids = changed.map(({ id }) => id)
  for (const { topic, onEvent } of subscriptions) {
    if (topics.includes(topic)) onEvent({ topic, ids, isReset: many })
  }
}

/** Leaves a stream that has ended for good. After others, the browser connects again by itself. */
function leave({ data }: MessageEvent<string>): void {
  const { reconnect } = JSON.parse(data) as { reconnect: boolean }
  if (!reconnect) close()
}

function resetAll(): void {
  for (const each of subscriptions) each.onEvent({ topic: each.topic, ids: [], isReset: true })
}

document.addEventListener('visibilitychange', () => {
  settle()
  if (!document.hidden) resetAll()
})

/**
 * Calls `onEvent` when something of a topic changed. Events are hints: without a stream, a reset
 * comes every half minute, so that a screen is never older.
 */
export function useLive(topic: Topic | undefined, onEvent: (event: LiveEvent) => void): void {
  const latest = useRef(onEvent)
  latest.current = onEvent
  useEffect(() => {
    if (topic === undefined) return undefined
    const own: Subscription = { topic, onEvent: (event) => latest.current(event) }
    subscriptions.add(own)
    settle()
    const poll = setInterval(() => {
      if (!document.hidden) own.onEvent({ topic, ids: [], isReset: true })
    }, slowPollMs)
    return () => {
      clearInterval(poll)
      subscriptions.delete(own)
      settle()
    }
  }, [topic])
}
