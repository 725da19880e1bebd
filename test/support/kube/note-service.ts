import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Note = {
  id: string
  text: string
  /** `namespace/name` of the resource that created it. */
  owner: string
  /** Valid keys that were created for it. */
  tokens: string[]
}

/** A minimal service for `noteKind`, for tests of the operator. */
export type NoteService = AsyncDisposable & {
  url: string
  notes: Map<string, Note>
  /** All requests so far: `POST /notes`, `GET /notes/:id`. */
  asked: string[]
  /** The notes of a resource; more than one is a duplicate. */
  of(owner: string): Note[]
}

/** With `upserts` an owner has one note, as in the product: two operators may ask at once. */
export async function startNoteService({ upserts = false } = {}): Promise<NoteService> {
  const notes = new Map<string, Note>()
  const asked: string[] = []
  let minted = 0
  const nextId = () => {
    minted += 1
    return `n${minted}`
  }
  const handlers: Record<string, (call: Call) => Reply> = {
    'GET /notes': ({ query }) => {
      const owner = query.get('owner')
      return { status: 200, body: { data: [...notes.values()].filter((n) => n.owner === owner) } }
    },
    'POST /notes': ({ body }) => {
      const known = [...notes.values()].find(({ owner }) => owner === body['owner'])
      if (upserts && known !== undefined) return { status: 200, body: known }
      const note = { id: nextId(), text: String(body['text']), owner: String(body['owner']) }
      notes.set(note.id, { ...note, tokens: [] })
      return { status: 201, body: note }
    },
    'GET /notes/:id': ({ note }) => ({ status: 200, body: note }),
    'PUT /notes/:id': ({ note, body }) => {
      note.text = String(body['text'])
      note.owner = String(body['owner'])
      return { status: 200, body: note }
    },
    'DELETE /notes/:id': ({ note }) => {
      notes.delete(note.id)
      return { status: 204 }
    },
    'PUT /notes/:id/token': ({ note }) => {
      note.tokens = [`token-${nextId()}`]
      return { status: 200, body: { token: note.tokens[0] } }
    },
  }
  const answer = (call: Omit<Call, 'note'>): Reply => {
    const [, , id, part] = call.path.split('/')
    const name = ['/notes', id && ':id', part].filter(Boolean).join('/')
    const handle = handlers[`${call.method} ${name}`]
    const note = id === undefined ? nobodysNote : notes.get(id)
    if (handle === undefined || note === undefined) return notFound
    asked.push(`${call.method} ${name}`)
    return handle({ ...call, note })
  }
  const server = createServer((request, response) => void serve(request, response, answer))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    notes,
    asked,
    of: (owner) => [...notes.values()].filter((note) => note.owner === owner),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Call = {
  method: string
  path: string
  query: URLSearchParams
  body: Record<string, unknown>
  note: Note
}
type Reply = { status: number; body?: object }

const nobodysNote: Note = { id: '', text: '', owner: '', tokens: [] }
const notFound = {
  status: 404,
  body: { status: 404, code: 'note_not_found', detail: 'there is no such note' },
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (call: Omit<Call, 'note'>) => Reply,
): Promise<void> {
  let text = ''
  for await (const chunk of request) text += chunk
  const url = new URL(request.url ?? '', 'http://service')
  const { status, body } = answer({
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    body: text === '' ? {} : JSON.parse(text),
  })
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}
