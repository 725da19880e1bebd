import { Link } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { shownNumber } from '../../browser/shown-number.ts'
import { useProjectId } from '../../session/project.ts'
import { formatUsd } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Severity, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { type FindingsFilter, whereOf, windowOf } from './findings-query.ts'

/** A row of the query language, with the columns that are selected below. */
type Row = Readonly<{
  finding_id: string
  task_id: string
  type: string
  severity: string
  state: string
  summary: string
  start_step: number | null
  wasted_cost_usd: string
  started_at: string
}>

const page = 50
const select = [
  ...['finding_id', 'task_id', 'type', 'severity', 'state', 'summary', 'start_step'],
  ...['wasted_cost_usd', 'started_at'],
]

/** The findings of the filter, newest first. Each leads to its step. */
export function FindingsList({ filter }: { filter: FindingsFilter }) {
  const project_id = useProjectId()
  const query = {
    entity: 'findings' as const,
    window: windowOf(filter),
    where: whereOf(filter),
    select,
    allow_wide: true,
    include_restored: false,
    limit: page,
  }
  const findings = usePages(
    ['findings', project_id, 'list', query],
    (cursor, signal) =>
      call.POST('/api/v2/observability/query', {
        body: { ...query, ...(cursor !== undefined && { cursor }) },
        signal,
      }),
    (each) => each.rows as unknown as Row[],
  )
  return (
    <List
      label="Findings"
      pages={findings}
      columns={columns(project_id)}
      keyOf={({ finding_id }) => finding_id}
      empty={<Empty title="No findings in this range" />}
    />
  )
}

const columns = (project_id: string): Column<Row>[] => [
  { id: 'severity', head: 'Severity', cell: ({ severity }) => <Severity of={severity} /> },
  {
    id: 'summary',
    head: 'Finding',
    cell: ({ type, state, summary }) => (
      <>
        <Badge>{type.replaceAll('_', ' ')}</Badge>{' '}
        {state !== 'open' && <Badge tone="info">{state}</Badge>} <Plain>{summary}</Plain>
      </>
    ),
  },
  {
    id: 'task',
    head: 'Task',
    cell: ({ task_id, start_step }) => (
      <>
        <Link
          to="/p/$project_id/tasks/$task_id"
          params={{ project_id, task_id }}
          search={(start_step === null ? {} : { step: shownNumber(start_step) }) as never}
        >
          <Plain>{task_id}</Plain>
        </Link>
        {start_step !== null && <span className={ui.soft}> step {shownNumber(start_step)}</span>}
      </>
    ),
  },
  {
    id: 'wasted',
    head: 'Wasted',
    number: true,
    wide: true,
    cell: ({ wasted_cost_usd }) => formatUsd(wasted_cost_usd),
  },
  {
    id: 'started_at',
    head: 'Started',
    number: true,
    cell: ({ started_at }) => <Time at={started_at} ago />,
  },
]
