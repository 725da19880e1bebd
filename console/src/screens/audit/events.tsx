import { type FormEvent, useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { AuditEvent } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { rangeOf } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Actor } from '../../ui/job.tsx'
import { Json } from '../../ui/json.tsx'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Facts, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import type { Chain } from './chain.ts'

const filters = ['actor_id', 'action', 'resource_type', 'resource_id'] as const
const outcomes = [
  ['', 'any'],
  ['succeeded', 'succeeded'],
  ['refused', 'refused'],
  ['failed', 'failed'],
  ['replayed', 'replayed'],
] as const

/** The records of a chain, newest first. */
export function Events({ chain }: { chain: Chain }) {
  const project_id = useProjectId()
  const [search, change] = useUrlState()
  const given = filters.filter((name) => search[name] !== undefined)
  const query = {
    chain,
    limit: 50,
    ...rangeOf(search, serverNow()),
    ...Object.fromEntries(given.map((name) => [name, search[name]])),
    ...(search['outcome'] !== undefined && { outcome: search['outcome'] as 'refused' }),
    ...(search['here'] === 'true' && { of_project: project_id }),
  }
  const events = usePages(
    ['audit-events', project_id, query],
    (cursor, signal) =>
      call.GET('/api/v2/audit/events', { params: { query: { ...query, cursor } }, signal }),
    (each) => each.events,
  )
  const opened = events.rows.find(({ seq }) => String(seq) === search['event'])
  return (
    <div className={ui.stack}>
      <Filters key={JSON.stringify(given.map((name) => search[name]))} />
      <List
        label="Events"
        pages={events}
        columns={columns}
        keyOf={({ seq }) => String(seq)}
        onOpen={({ seq }) => change({ event: String(seq) })}
        empty={
          <Empty title="No records in this range">
            <p>
              Choose a longer range, or clear the filters. Each call that changes something has one.
            </p>
          </Empty>
        }
      />
      <Dialog
        wide
        title={`Record ${search['event'] ?? ''}`}
        open={opened !== undefined}
        onClose={() => change({ event: undefined })}
      >
        {opened !== undefined && <EventDetails event={opened} />}
      </Dialog>
    </div>
  )
}

const labels = {
  actor_id: 'Actor id',
  action: 'Action',
  resource_type: 'Kind of resource',
  resource_id: 'Resource id',
}

function Filters() {
  const [search, change] = useUrlState()
  const [values, setValues] = useState(search)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change(Object.fromEntries(filters.map((name) => [name, values[name]?.trim() || undefined])))
  }
  return (
    <form className={ui.row} style={{ alignItems: 'end' }} onSubmit={submit}>
      {filters.map((name, at) => (
        <TextField
          key={name}
          label={labels[name]}
          size={16}
          data-filter={at === 1 || undefined}
          placeholder={name === 'action' ? 'createApiKey' : undefined}
          value={values[name] ?? ''}
          onChange={({ target }) => setValues({ ...values, [name]: target.value })}
        />
      ))}
      <SelectField
        label="Outcome"
        value={search['outcome'] ?? ''}
        options={outcomes}
        onChange={({ target }) => change({ outcome: target.value || undefined })}
      />
      <SelectField
        label="Of"
        value={search['here'] ?? ''}
        options={[
          ['', 'all projects'],
          ['true', 'this project'],
        ]}
        onChange={({ target }) => change({ here: target.value || undefined })}
      />
      <Button type="submit">Filter</Button>
      <Button
        look="plain"
        onClick={() => {
          setValues({})
          change(
            Object.fromEntries([...filters, 'outcome', 'here'].map((name) => [name, undefined])),
          )
        }}
      >
        Clear
      </Button>
    </form>
  )
}

const tones = { succeeded: 'good', refused: 'warn', failed: 'bad', replayed: 'info' } as const

const columns: Column<AuditEvent>[] = [
  { id: 'seq', head: 'No.', number: true, wide: true, cell: ({ seq }) => seq },
  { id: 'time', head: 'Time', cell: ({ recorded_at }) => <Time at={recorded_at} /> },
  {
    id: 'actor',
    head: 'Who',
    cell: ({ actor_kind, actor_id }) => (
      <Actor of={actor_id === null ? actor_kind : `${actor_kind}:${actor_id}`} />
    ),
  },
  {
    id: 'action',
    head: 'Action',
    cell: ({ action, suppressed }) => (
      <>
        <Plain>{action}</Plain>
        {suppressed > 0 && <div className={ui.soft}>and {suppressed} refused calls before</div>}
      </>
    ),
  },
  {
    id: 'resource',
    head: 'Resource',
    wide: true,
    cell: ({ resource_type, resource_id }) => (
      <>
        <Plain>{resource_type}</Plain>
        {resource_id !== null && (
          <div className={ui.mono}>
            <Plain>{resource_id}</Plain>
          </div>
        )}
      </>
    ),
  },
  {
    id: 'outcome',
    head: 'Outcome',
    cell: ({ outcome, code }) => (
      <>
        <Badge tone={tones[outcome]}>{outcome}</Badge> {code !== null && <code>{code}</code>}
      </>
    ),
  },
]

/** All of one record: who, from where, what, and what it asked to change. */
function EventDetails({ event }: { event: AuditEvent }) {
  const { origin, change } = event
  const mono = (text: string | null) => text && <code key={text}>{text}</code>
  return (
    <div className={ui.stack}>
      <Facts
        of={[
          ['Time', <Time key="time" at={event.recorded_at} />],
          ['Action', <Plain key="action">{event.action}</Plain>],
          ['Outcome', event.code === null ? event.outcome : `${event.outcome}: ${event.code}`],
          ['Who', `${event.actor_kind} ${event.actor_id ?? ''}`],
          ['Through', event.via],
          ['From', origin && <Plain key="from">{origin.address}</Plain>],
          ['Client', origin?.user_agent && <Plain key="agent">{origin.user_agent}</Plain>],
          [
            'Resource',
            <Plain key="what">{`${event.resource_type} ${event.resource_id ?? ''}`}</Plain>,
          ],
          ['Project', mono(event.project_id)],
          ['Request', mono(event.request_id)],
          ['Refused calls before', event.suppressed > 0 ? event.suppressed : null],
          ['Reads sealed', event.segment_count],
          ['Hash', mono(event.hash)],
        ]}
      />
      <h3>Requested change</h3>
      {change === null ? (
        <p className={ui.soft}>
          {event.change_hash === null
            ? 'The call has no body.'
            : 'The details were erased. Their hash is kept, so the chain can still be verified.'}
        </p>
      ) : (
        <Json value={change} open={3} />
      )}
      <div>
        <Copy text={() => JSON.stringify(event, null, 2)}>Copy as JSON</Copy>
      </div>
    </div>
  )
}
