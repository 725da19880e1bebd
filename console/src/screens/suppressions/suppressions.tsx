import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { IncidentSuppression } from '../../api/schema.gen.d.ts'
import { useLive } from '../../app/live.ts'
import { useHasRole, useProjectId } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { formatCount } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Heading, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { Choice } from '../incidents/inbox-filters.tsx'
import { Calendar } from './calendar.tsx'
import { operators } from './draft.ts'
import { SuppressionEditor } from './editor.tsx'

const page = 100

/** The suppressions: a calendar of the next days, and the list. */
export function Suppressions() {
  const project_id = useProjectId()
  const isAdmin = useHasRole('admin')
  const [{ state, edit }, change] = useUrlState()
  const known = states.find((each) => each === state)
  const suppressions = usePages(
    ['incidents', project_id, 'suppressions', known],
    (cursor, signal) =>
      call.GET('/api/v2/observability/incidents/suppressions', {
        params: { query: { limit: page, cursor, ...(known && { state: known }) } },
        signal,
      }),
    (each) => each.suppressions,
  )
  useLive('incidents', () => void suppressions.refetch())
  const open = (id: string) => change({ edit: id }, { push: true })
  const close = () => change({ edit: undefined, matchers: undefined })
  return (
    <>
      <Heading title="Suppressions">
        <Button look="primary" disabled={!isAdmin} onClick={() => open('new')}>
          New suppression
        </Button>
      </Heading>
      {!isAdmin && <p className={ui.soft}>Only admins of the project can change suppressions.</p>}
      {edit !== undefined && <SuppressionEditor key={edit} id={edit} onClose={close} />}
      <section className={ui.stack} aria-label="Calendar">
        <h2>Next 14 days</h2>
        <Loaded query={suppressions} what="Reading the calendar">
          {() => <Calendar suppressions={suppressions.rows} />}
        </Loaded>
      </section>
      <section className={ui.stack} aria-label="List">
        <div className={ui.row}>
          <h2 className={ui.grow}>All</h2>
          <Choice
            label="State"
            value={known ?? ''}
            choices={[['', 'All states'], ...states.map((each) => [each, each] as const)]}
            onChoose={(value) => change({ state: value })}
          />
        </div>
        <List
          label="Suppressions"
          pages={suppressions}
          columns={columns}
          keyOf={({ suppression_id }) => suppression_id}
          onOpen={({ suppression_id }) => open(suppression_id)}
          empty={
            <Empty title="No suppressions">
              <p>A suppression mutes messages during a deploy or a maintenance.</p>
            </Empty>
          }
        />
      </section>
    </>
  )
}

const states = ['active', 'upcoming', 'expired'] as const
const tones = { active: 'warn', upcoming: 'info', expired: undefined } as const

const columns: Column<IncidentSuppression>[] = [
  {
    id: 'comment',
    head: 'Why',
    cell: ({ comment, warnings }) => (
      <>
        <Plain>{comment}</Plain>
        {warnings.length > 0 && (
          <>
            {' '}
            <Badge tone="warn">{formatCount(warnings.length)} warnings</Badge>
          </>
        )}
      </>
    ),
  },
  {
    id: 'state',
    head: 'State',
    cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge>,
  },
  {
    id: 'matchers',
    head: 'Mutes',
    wide: true,
    cell: ({ matchers }) => <Plain>{matchers.map(matcherText).join(' and ')}</Plain>,
  },
  { id: 'muted', head: 'Muted now', number: true, cell: (row) => formatCount(row.muted_incidents) },
  {
    id: 'next',
    head: 'Next start',
    number: true,
    wide: true,
    cell: ({ next_start }) => (next_start === null ? '–' : <Time at={next_start} />),
  },
  {
    id: 'ends',
    head: 'Ends',
    number: true,
    wide: true,
    cell: ({ expires_at }) => (expires_at === undefined ? '–' : <Time at={expires_at} />),
  },
]

/** Says what a matcher compares: `severity is at most high`. */
function matcherText({ field, op, value }: IncidentSuppression['matchers'][number]): string {
  const verb = operators.find(([each]) => each === op)?.[1] ?? 'is'
  return `${field} ${verb} ${[value].flat().join(', ')}`
}
