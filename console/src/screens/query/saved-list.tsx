import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { QueryParameter, SavedQuery } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { SaveDialog } from './save-dialog.tsx'
import { bodyOfSaved, readParameters } from './saved-body.ts'
import { deleteSaved, readSaved } from './saved-calls.ts'
import type { Draft } from './use-draft.ts'
import { writeValue } from './values.ts'

const page = 50

type Opened = { what: 'rename' | 'delete' | 'parameters'; saved: SavedQuery }

/** The saved queries that the person can see: own ones, and those of the project. */
export function SavedList({ open }: { open: Draft['open'] }) {
  const project_id = useProjectId()
  const [opened, setOpened] = useState<Opened>()
  const pages = usePages(
    ['saved queries', project_id],
    (cursor, signal) =>
      call.GET('/api/v2/observability/saved-queries', {
        params: { query: { limit: page, cursor } },
        signal,
      }),
    (each) => each.saved_queries as SavedQuery[],
  )
  const run = (saved: SavedQuery) => {
    if (saved.parameters.length > 0) setOpened({ what: 'parameters', saved })
    else openSaved(saved, {}, open)
  }
  const close = () => setOpened(undefined)
  return (
    <>
      <List
        label="Saved queries"
        pages={pages}
        columns={useColumns(run, setOpened)}
        keyOf={({ saved_query_id }) => saved_query_id}
        onOpen={run}
        empty={
          <Empty title="No saved queries yet">
            <p>Write a query, then choose “Save”. Scripts run it with its id.</p>
          </Empty>
        }
      />
      {opened?.what === 'rename' && <SaveDialog saved={opened.saved} onClose={close} />}
      {opened?.what === 'delete' && <DeleteDialog saved={opened.saved} onClose={close} />}
      {opened?.what === 'parameters' && (
        <ParameterDialog
          saved={opened.saved}
          onClose={close}
          onRun={(values) => openSaved(opened.saved, values, open)}
        />
      )}
    </>
  )
}

function openSaved(
  saved: SavedQuery,
  values: Readonly<Record<string, unknown>>,
  open: Draft['open'],
): void {
  const { body, window, fault } = bodyOfSaved(saved, values)
  if (body === undefined) notifyFault(new Error(fault))
  else open(body, { window, saved: saved.saved_query_id })
}

function useColumns(
  run: (saved: SavedQuery) => void,
  setOpened: (opened: Opened) => void,
): Column<SavedQuery>[] {
  const canEdit = useHasRole('editor')
  const reason = canEdit ? undefined : 'Changing a saved query needs the role editor'
  return [
    {
      id: 'name',
      head: 'Name',
      cell: (saved) => (
        <div>
          <Button small look="plain" onClick={() => run(saved)}>
            <Plain>{saved.name}</Plain>
          </Button>
          {saved.description !== '' && (
            <p className={ui.soft}>
              <Plain>{saved.description}</Plain>
            </p>
          )}
          {saved.broken.map(({ pointer, detail }) => (
            <p key={pointer} className={ui.fault}>
              <Badge tone="bad">broken</Badge> <Plain>{`${pointer}: ${detail}`}</Plain>
            </p>
          ))}
        </div>
      ),
    },
    {
      id: 'kind',
      head: 'Reads',
      wide: true,
      cell: ({ kind, body }) => (
        <Plain>{`${kind === 'query' ? 'records' : 'measures'} of ${String(body['entity'])}`}</Plain>
      ),
    },
    {
      id: 'visibility',
      head: 'For',
      cell: ({ visibility }) => (visibility === 'project' ? 'the project' : 'only you'),
    },
    {
      id: 'updated_at',
      head: 'Changed',
      number: true,
      wide: true,
      cell: ({ updated_at }) => <Time at={updated_at} ago />,
    },
    {
      id: 'actions',
      head: <span className={ui.visuallyHidden}>Actions</span>,
      cell: (saved) => (
        <div className={ui.row}>
          <Button
            small
            disabled={!canEdit}
            title={reason}
            aria-label={`Rename ${saved.name}`}
            onClick={() => setOpened({ what: 'rename', saved })}
          >
            Rename
          </Button>
          <Button
            small
            look="danger"
            disabled={!canEdit}
            title={reason}
            aria-label={`Delete ${saved.name}`}
            onClick={() => setOpened({ what: 'delete', saved })}
          >
            Delete
          </Button>
        </div>
      ),
    },
  ]
}

function DeleteDialog({ saved, onClose }: { saved: SavedQuery; onClose: () => void }) {
  const client = useQueryClient()
  const [isRunning, setRunning] = useState(false)
  const remove = async () => {
    setRunning(true)
    try {
      const { etag, saved: current } = await readSaved(saved.saved_query_id)
      if (current.version !== saved.version) {
        throw new Error('The query was changed by another person. Reload the list, then delete it.')
      }
      await deleteSaved(saved.saved_query_id, etag)
      notify(`Deleted ${saved.name}`)
      onClose()
    } catch (error) {
      notifyFault(error)
    } finally {
      setRunning(false)
      await client.invalidateQueries({ queryKey: ['saved queries'] })
    }
  }
  return (
    <Confirm
      title="Delete the saved query?"
      action="Delete the query"
      open
      isRunning={isRunning}
      onClose={onClose}
      onConfirm={() => void remove()}
    >
      <p>
        <Plain>{saved.name}</Plain> is deleted
        {saved.visibility === 'project' ? ' for everyone in the project' : ''}. Scripts that run it
        by its id will fail. Recorded data stays.
      </p>
    </Confirm>
  )
}

/** Asks for the parameters of a saved query before it runs. */
function ParameterDialog({
  saved: { name, parameters },
  onClose,
  onRun,
}: {
  saved: SavedQuery
  onClose: () => void
  onRun: (values: Record<string, unknown>) => void
}) {
  const first = parameters.map((each) => [each.name, writeValue(each.default) ?? ''] as const)
  const [typed, setTyped] = useState<Record<string, string>>(Object.fromEntries(first))
  const [faults, setFaults] = useState<Record<string, string>>({})
  const run = () => {
    const { values, wrong } = readParameters(parameters, typed)
    setFaults(wrong)
    if (Object.keys(wrong).length === 0) onRun(values)
  }
  return (
    <Dialog title={`Run ${name}`} open onClose={onClose}>
      <form
        className={ui.stack}
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        {parameters.map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={typed[parameter.name] ?? ''}
            fault={faults[parameter.name]}
            onChange={(text) => setTyped({ ...typed, [parameter.name]: text })}
          />
        ))}
        <div className={ui.row}>
          <Button type="submit" look="primary">
            Run
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

function ParameterField({
  parameter: { name, type, required },
  value,
  fault,
  onChange,
}: {
  parameter: QueryParameter
  value: string
  fault: string | undefined
  onChange: (text: string) => void
}) {
  const about = {
    label: name,
    hint: `${type}${required ? ', required' : ''}`,
    fault,
    value,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  }
  if (type === 'texts') return <AreaField {...about} rows={3} placeholder="One value a line" />
  if (type !== 'boolean') return <TextField {...about} />
  return (
    <SelectField
      {...about}
      options={[
        ['', 'no value'],
        ['true', 'yes'],
        ['false', 'no'],
      ]}
    />
  )
}
