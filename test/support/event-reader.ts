/** An event as a client reads it. */
type ReadEvent = {
  event: string
  id: string
  data: Record<string, unknown>
  retry_ms: number | undefined
}

/** A client of `GET /api/v1/events`. */
export type EventReader = {
  status: number
  headers: Headers
  /** Body of a response that is not a stream. */
  body: Record<string, unknown>
  /** Id of the last event, as a browser keeps it. */
  lastId(): string
  /** Resolves with the next event; undefined at the end of the stream. */
  next(): Promise<ReadEvent | undefined>
  /** Resolves with the next event of this name. Throws at the end of the stream. */
  nextOf(event: string): Promise<ReadEvent>
  /** Comments so far. */
  comments(): number
  close(): void
}

/** Opens a stream of events, with query parameters and headers. */
export async function readEvents(
  base_url: string,
  query: Record<string, string>,
  headers: Record<string, string>,
): Promise<EventReader> {
  const leaving = new AbortController()
  const url = `${base_url}/api/v1/events?${new URLSearchParams(query)}`
  const response = await fetch(url, { headers, signal: leaving.signal })
  const isStream = response.headers.get('content-type') === 'text/event-stream; charset=utf-8'
  const body = isStream ? {} : ((await response.json()) as Record<string, unknown>)
  const state: ReaderState = { last_id: '', comments: 0 }
  const events = isStream && response.body ? eventsOf(response.body, state) : noEvents()
  const next = async () => (await events.next()).value
  return {
    ...{ status: response.status, headers: response.headers, body },
    lastId: () => state.last_id,
    next,
    nextOf: async (name) => {
      for (;;) {
        const event = await next()
        if (event === undefined) throw new Error(`the stream ended before the event ${name}`)
        if (event.event === name) return event
      }
    },
    comments: () => state.comments,
    close: () => leaving.abort(),
  }
}

type ReaderState = { last_id: string; comments: number }

async function* noEvents(): AsyncGenerator<ReadEvent, undefined> {}

/** Parses a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* eventsOf(
  body: AsyncIterable<Uint8Array>,
  state: ReaderState,
): AsyncGenerator<ReadEvent, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const event = parseEvent(text.slice(0, end), state)
      text = text.slice(end + 2)
      if (event !== undefined) yield event
    }
  }
}

function parseEvent(block: string, state: ReaderState): ReadEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [name = '', ...rest] = line.split(': ')
    if (name === '') state.comments += 1
    else fields.set(name, rest.join(': '))
  }
  state.last_id = fields.get('id') ?? state.last_id
  const data = fields.get('data')
  if (data === undefined) return undefined
  const retry = fields.get('retry')
  return {
    event: fields.get('event') ?? 'message',
    id: state.last_id,
    data: JSON.parse(data),
    retry_ms: retry === undefined ? undefined : Number(retry),
  }
}
