import { z } from 'zod'
import {
  type EventDraft,
  type Kind,
  NotReady,
  type ReconcileDeps,
  type Resource,
} from '../../../src/operator/contract.ts'
import { commonSpecFields } from '../../../src/operator/index.ts'
import { ServiceRefusal } from '../../../src/operator/service/service-client.ts'
import type { Note } from './note-service.ts'

/** The status has the beginning only: a resource must fit into etcd. */
const shown_max = 100

const noteSpec = z.strictObject({
  ...commonSpecFields,
  text: z.string().min(1).max(1_000_000).describe('What the note says.'),
  secretName: z.string().min(1).max(63).optional().describe('A Secret that gets its key.'),
})
const noteStatus = z.strictObject({
  noteId: z.string().max(63).optional().describe('The id of the note.'),
  text: z.string().max(shown_max).optional().describe('How the service says that it begins.'),
})
type NoteSpec = z.output<typeof noteSpec>
type NoteStatus = z.output<typeof noteStatus>

/** A kind for tests of the operator itself: notes in a `startNoteService`. */
export const noteKind: Kind<NoteSpec, NoteStatus> = {
  ...{ kind: 'Note', plural: 'notes', singular: 'note', short_names: [] },
  description: 'A note, for tests.',
  spec: noteSpec,
  status: noteStatus,
  rules: [{ rule: "self.spec.text != 'never'", message: 'text: never says never' }],
  columns: [{ name: 'Text', type: 'string', path: '.spec.text', description: 'What it says.' }],
  owns_secrets: true,
  example: { metadata: { name: 'hello' }, spec: { text: 'hello' } },
  reconcile: async (resource, deps) => {
    const { spec } = resource
    const events: EventDraft[] = []
    const note = await noteOf(resource, deps, events)
    const drifted = note.text === spec.text ? 0 : 1
    if (drifted > 0) {
      await deps.service.request({
        ...{ method: 'PUT', path: `/notes/${note.id}` },
        body: { text: spec.text, owner: ownerOf(resource) },
      })
      events.push(event('Changed', 'PutNote', `The note says ${spec.text.slice(0, 20)}.`))
    }
    if (spec.secretName !== undefined) await keepSecret(note, spec.secretName, resource, deps)
    const read = await deps.service.request({ method: 'GET', path: `/notes/${note.id}` })
    const { text } = read.body as Note
    const ready = { type: 'Ready', status: 'True', reason: 'InSync', message: 'The note is there.' }
    return {
      conditions: [ready as { status: 'True' } & typeof ready],
      status: { noteId: note.id, text: text.slice(0, shown_max) },
      events,
      drifted,
    }
  },
  remove: async (resource, { service, secrets }) => {
    const id = resource.meta.external_id ?? (await foundByOwner(resource, service))?.id
    if (id === undefined || resource.spec.deletionPolicy === 'Retain') return
    for (const secret of await secrets.listOwned()) await secrets.remove(secret)
    await service.request({ method: 'DELETE', path: `/notes/${id}` }).catch(unlessGone)
  },
}

type NoteResource = Resource<NoteSpec, NoteStatus>

/** Found by id, else by owner (status and annotation may be lost), else created. */
async function noteOf(
  resource: NoteResource,
  deps: ReconcileDeps,
  events: EventDraft[],
): Promise<Note> {
  const { external_id } = resource.meta
  if (external_id !== undefined) {
    const path = `/notes/${external_id}`
    const read = await deps.service.request({ method: 'GET', path }).catch(unlessGone)
    if (read !== undefined) return read.body as Note
  }
  const found = await foundByOwner(resource, deps.service)
  if (found !== undefined) {
    await deps.noteExternalId(found.id)
    return found
  }
  const { body } = await deps.service.request({
    ...{ method: 'POST', path: '/notes' },
    body: { text: resource.spec.text, owner: ownerOf(resource) },
  })
  const note = { tokens: [], ...(body as Omit<Note, 'tokens'>) }
  await deps.noteExternalId(note.id)
  events.push(event('Created', 'PostNote', 'The note was made.'))
  return note
}

async function foundByOwner(resource: NoteResource, service: ReconcileDeps['service']) {
  const { body } = await service.request({
    ...{ method: 'GET', path: `/notes?owner=${encodeURIComponent(ownerOf(resource))}` },
  })
  return (body as { data: Note[] }).data[0]
}

/**
 * Creates a new key if the Secret's key is not valid; leaves a Secret of another owner unchanged.
 */
async function keepSecret(
  note: Note,
  name: string,
  { meta }: NoteResource,
  { secrets, service }: ReconcileDeps,
): Promise<void> {
  const secret = await secrets.read(name)
  if (secret !== undefined && secret.owner_uid !== meta.uid) {
    throw new NotReady('SecretNotOwned', `Secret ${name} is not this resource's.`)
  }
  const token = secret?.data['token']
  if (token !== undefined && note.tokens.includes(token)) return
  const minted = await service.request({ method: 'PUT', path: `/notes/${note.id}/token` })
  const draft = { name, labels: {}, annotations: {}, data: minted.body as { token: string } }
  if (secret === undefined) await secrets.create(draft)
  else await secrets.replace(secret, draft)
}

function ownerOf({ meta }: NoteResource): string {
  return `${meta.namespace}/${meta.name}`
}

function event(reason: string, action: string, note: string): EventDraft {
  return { type: 'Normal', reason, action, note }
}

function unlessGone(error: unknown): undefined {
  if (error instanceof ServiceRefusal && error.status === 404) return undefined
  throw error
}
