import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { AcknowledgeIncidentsReply, Incident } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useKeys } from '../../browser/keys.ts'
import { rememberList } from '../../browser/list-walk.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useLive } from '../../session/live.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { useSession } from '../../session/session.ts'
import { List } from '../../ui/list.tsx'
import { Button, classes, Heading, Severity, State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { refreshIncidents } from '../shared/refresh-incidents.ts'
import { InboxFilters } from './inbox-filters.tsx'
import { inboxQuery } from './inbox-query.ts'
import { Group, Marks } from './incident-parts.tsx'
import css from './incidents.module.css'
import { type Asked, MoveDialog } from './move-dialogs.tsx'

const page = 50

/** The inbox of incidents: what needs an answer, by severity and owner. */
export function Incidents() {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const { href } = useLocation()
  const { data: session } = useSession()
  const [search, change] = useUrlState()
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const [selected, setSelected] = useState<Incident>()
  const [asked, setAsked] = useState<Asked>()
  const query = { ...inboxQuery(search, session?.email, serverNow()), limit: page }
  const incidents = usePages(
    ['incidents', project_id, query],
    (cursor, signal) =>
      call.GET('/api/v2/observability/incidents', {
        params: { query: { ...query, cursor } },
        signal,
      }),
    (each) => each.incidents,
  )
  const { rows, refetch } = incidents
  useLive('incidents', () => void refetch())
  useEffect(
    () => rememberList('incidents', { ids: rows.map(({ incident_id }) => incident_id), href }),
    [rows, href],
  )
  const toggle = (id: string) => setChecked((before) => withToggled(before, id))
  const chosen = rows.filter(({ incident_id }) => checked.has(incident_id))
  const ask = (move: Asked) => () => selected !== undefined && setAsked(move)
  useKeys({
    x: () => selected && toggle(selected.incident_id),
    ...(chosen.length === 0 && { a: ask('ack') }),
    r: ask('resolve'),
    s: ask('silence'),
  })
  return (
    <>
      <Heading title="Incidents" />
      <InboxFilters />
      <BulkBar chosen={chosen} onDone={() => setChecked(new Set())} />
      <List
        label="Incidents"
        pages={incidents}
        columns={[checkColumn(checked, toggle), ...columns(project_id)]}
        keyOf={({ incident_id }) => incident_id}
        onSelect={setSelected}
        onOpen={({ incident_id }) =>
          void navigate({
            to: '/p/$project_id/incidents/$incident_id',
            params: { project_id, incident_id },
          })
        }
        sorting={{ by: query.sort, order: query.order }}
        onSort={({ by, order }) => change({ sort: by, order })}
        empty={<NoIncidents project_id={project_id} />}
      />
      {selected !== undefined && (
        <MoveDialog asked={asked} incident={selected} onClose={() => setAsked(undefined)} />
      )}
    </>
  )
}

function withToggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const after = new Set(before)
  if (!after.delete(id)) after.add(id)
  return after
}

function NoIncidents({ project_id }: { project_id: string }) {
  const [{ state, owner, severity, rule, q, muted }, change] = useUrlState()
  const isFiltered = [state, owner, severity, rule, q, muted].some(Boolean)
  if (isFiltered) {
    return (
      <Empty title="No incident matches the filters">
        <button
          type="button"
          className={css.tile}
          onClick={() =>
            change({
              state: undefined,
              owner: undefined,
              severity: undefined,
              rule: undefined,
              q: undefined,
              muted: undefined,
            })
          }
        >
          Clear the filters
        </button>
      </Empty>
    )
  }
  return (
    <Empty title="No unresolved incident">
      <p>
        A rule opens an incident when a signal is beyond its threshold, or when a loop is found.
      </p>
      <Link to="/p/$project_id/rules" params={{ project_id }}>
        See the rules
      </Link>
    </Empty>
  )
}

function checkColumn(checked: ReadonlySet<string>, toggle: (id: string) => void): Column<Incident> {
  return {
    id: 'check',
    head: <span className={ui.visuallyHidden}>Chosen</span>,
    cell: ({ incident_id, number, state }) => (
      <input
        type="checkbox"
        aria-label={`Choose incident ${number}`}
        disabled={state === 'resolved'}
        checked={checked.has(incident_id)}
        onChange={() => toggle(incident_id)}
      />
    ),
  }
}

const columns = (project_id: string): Column<Incident>[] => [
  {
    id: 'severity',
    head: 'Severity',
    sortable: true,
    cell: ({ severity }) => <Severity of={severity} />,
  },
  {
    id: 'number',
    head: 'Incident',
    sortable: true,
    cell: (incident) => (
      <div className={css.title}>
        <Link
          to="/p/$project_id/incidents/$incident_id"
          params={{ project_id, incident_id: incident.incident_id }}
        >
          #{incident.number} <Plain>{incident.title}</Plain>
        </Link>
        <Group of={incident.group} />
      </div>
    ),
  },
  {
    id: 'state',
    head: 'State',
    cell: (incident) => (
      <span className={css.badges}>
        <State of={incident.state} />
        <Marks of={incident} />
      </span>
    ),
  },
  { id: 'rule', head: 'Rule', wide: true, cell: ({ rule }) => <Plain>{rule}</Plain> },
  {
    id: 'assignee',
    head: 'Assignee',
    wide: true,
    cell: ({ assignee }) =>
      assignee === null ? <span className={ui.soft}>nobody</span> : <Plain>{assignee}</Plain>,
  },
  {
    id: 'opened_at',
    head: 'Opened',
    number: true,
    sortable: true,
    cell: ({ opened_at }) => <Time at={opened_at} ago />,
  },
]

/** Incidents of one call. */
const incidents_max = 100

/** The bar that acknowledges several incidents at once. */
function BulkBar({ chosen, onDone }: { chosen: readonly Incident[]; onDone: () => void }) {
  const client = useQueryClient()
  const isEditor = useHasRole('editor')
  const acknowledge = useMutation({
    mutationFn: async () => {
      const results: AcknowledgeIncidentsReply['results'] = []
      for (let at = 0; at < chosen.length; at += incidents_max) {
        const incidents = chosen.slice(at, at + incidents_max).map((one) => one.incident_id)
        const { data } = await call.POST('/api/v2/observability/incidents/ack', {
          body: { incidents },
        })
        results.push(...(data?.results ?? []))
      }
      return results
    },
    onSuccess: (results) => {
      notify(summaryOf(results))
      onDone()
    },
    onError: notifyFault,
    onSettled: () => refreshIncidents(client),
  })
  const canAct = isEditor && !acknowledge.isPending
  useKeys(chosen.length > 0 && canAct ? { a: () => acknowledge.mutate() } : {})
  if (chosen.length === 0) return null
  return (
    <div className={classes(ui.notice, css.bar)}>
      <span className={ui.grow}>{chosen.length} chosen</span>
      <Button look="primary" disabled={!canAct} onClick={() => acknowledge.mutate()}>
        {acknowledge.isPending ? 'Acknowledging…' : 'Acknowledge'} <kbd>a</kbd>
      </Button>
      <Button look="plain" onClick={onDone}>
        Choose none
      </Button>
      {!isEditor && <span className={ui.soft}>Only editors of the project can acknowledge.</span>}
    </div>
  )
}

/** Says what became of each incident: `3 acknowledged, 1 already resolved`. */
function summaryOf(results: AcknowledgeIncidentsReply['results']): string {
  const texts = { acknowledged: 'acknowledged', already: 'were already acknowledged' } as const
  const more = { resolved: 'already resolved', not_found: 'not found' } as const
  const counted = Map.groupBy(results, ({ result }) => ({ ...texts, ...more })[result])
  return [...counted].map(([text, some]) => `${some.length} ${text}`).join(', ')
}
