import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { faultsOf } from '../../api/problem.ts'
import type {
  QueryParameterRequest,
  QueryParameterType,
  SavedQuery,
  SavedQueryRequest,
} from '../../api/schema.gen.d.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, CheckField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import type { Body, Window } from './body.ts'
import { placeholdersIn } from './filter-tree.ts'
import { createSaved, readSaved, replaceSaved, requestOf } from './saved-calls.ts'

/** The stored query: a new one, or a saved one under another name. */
type Given =
  | { body: Body; window: Window; saved?: undefined; onSaved: (saved: SavedQuery) => void }
  | { saved: SavedQuery; body?: undefined }

const parameterTypes: readonly QueryParameterType[] = [
  ...(['text', 'texts', 'uuid', 'integer', 'number', 'boolean', 'time'] as const),
]

function firstRequest(given: Given): SavedQueryRequest {
  if (given.saved !== undefined) return requestOf(given.saved)
  const { entity, ...rest } = given.body
  return {
    name: '',
    description: '',
    visibility: 'private',
    kind: rest.measures === undefined ? 'query' : 'aggregate',
    body: { entity, window: given.window, ...rest },
    parameters: placeholdersIn(given.body).map((name) => ({ name, type: 'text', required: true })),
  }
}

/** Asks for the name of a query, and stores it. What is typed stays after an error. */
export function SaveDialog({ onClose, ...given }: Given & { onClose: () => void }) {
  const client = useQueryClient()
  const [request, setRequest] = useState(() => firstRequest(given))
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const set = (values: Partial<SavedQueryRequest>) => setRequest({ ...request, ...values })
  const save = async () => {
    setRunning(true)
    setError(undefined)
    try {
      await store(given, request)
      notify(`Saved ${request.name}`)
      await client.invalidateQueries({ queryKey: ['saved queries'] })
      await client.invalidateQueries({ queryKey: ['saved query'] })
      onClose()
    } catch (cause) {
      setError(cause)
    } finally {
      setRunning(false)
    }
  }
  const faults = faultsOf(error)
  const isNew = given.saved === undefined
  return (
    <Dialog title={isNew ? 'Save the query' : 'Rename the query'} open onClose={onClose}>
      <form
        className={ui.stack}
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {error !== undefined && <Fault error={error} />}
        <TextField
          label="Name"
          required
          maxLength={200}
          value={request.name}
          fault={faultAt(faults, '/name')}
          onChange={(event) => set({ name: event.target.value })}
        />
        <AreaField
          label="Description"
          rows={2}
          value={request.description ?? ''}
          fault={faultAt(faults, '/description')}
          onChange={(event) => set({ description: event.target.value })}
        />
        <SelectField
          label="Who can see it"
          value={request.visibility ?? 'private'}
          options={[
            ['private', 'only you'],
            ['project', 'everyone who can read the project'],
          ]}
          onChange={(event) => set({ visibility: event.target.value as 'private' })}
        />
        <Parameters of={request.parameters ?? []} onChange={(parameters) => set({ parameters })} />
        <div className={ui.row}>
          <Button type="submit" look="primary" disabled={isRunning}>
            {isRunning ? 'Saving…' : 'Save'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

async function store(given: Given, request: SavedQueryRequest): Promise<void> {
  if (given.saved === undefined) return given.onSaved(await createSaved(request))
  const { saved_query_id, version } = given.saved
  const { saved, etag } = await readSaved(saved_query_id)
  if (saved.version !== version) {
    throw new Error('The query was changed by another person. Close this dialog and try again.')
  }
  await replaceSaved(saved_query_id, request, etag)
}

function Parameters({
  of,
  onChange,
}: {
  of: readonly QueryParameterRequest[]
  onChange: (parameters: QueryParameterRequest[]) => void
}) {
  if (of.length === 0) return null
  const set = (name: string, values: Partial<QueryParameterRequest>) =>
    onChange(of.map((each) => (each.name === name ? { ...each, ...values } : each)))
  return (
    <>
      {of.map(({ name, type, required }) => (
        <div key={name} className={ui.row}>
          <SelectField
            label={`Type of the parameter ${name}`}
            value={type}
            options={parameterTypes.map((each) => [each, each] as const)}
            onChange={(event) => set(name, { type: event.target.value as QueryParameterType })}
          />
          <CheckField
            label="required"
            checked={required === true}
            onChange={(event) => set(name, { required: event.target.checked })}
          />
        </div>
      ))}
    </>
  )
}
