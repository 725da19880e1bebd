import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { IncidentSuppression } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useZone } from '../../browser/zone.ts'
import { useLive } from '../../session/live.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Choice } from '../../ui/fields.tsx'
import { formatCount, formatInstant } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Heading, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { barsOf, type CalendarDay, calendarDays } from './calendar.ts'
import { operators } from './draft.ts'
import { SuppressionEditor } from './editor.tsx'
import css from './suppressions.module.css'

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

/** The next 14 days: one line for each suppression, with a bar while it mutes. */
function Calendar({ suppressions }: { suppressions: readonly IncidentSuppression[] }) {
  const zone = useZone()
  const shown = suppressions.filter(({ next_windows }) => next_windows.length > 0)
  const days = calendarDays(serverNow(), zone)
  if (shown.length === 0) {
    return <p className={ui.soft}>Nothing is muted in the next 14 days.</p>
  }
  return (
    <div className={css.calendar} tabIndex={shown.length > 0 ? 0 : -1}>
      <table className={css.grid} aria-label="Suppressions of the next 14 days">
        <thead>
          <tr>
            <th scope="col">Suppression</th>
            {days.map((day) => (
              <th key={day.date} scope="col">
                {dayName(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((suppression) => (
            <tr key={suppression.suppression_id}>
              <th scope="row">
                <Plain>{suppression.comment.slice(0, 80)}</Plain>
              </th>
              {days.map((day, at) => (
                <td key={day.date} className={at === 0 ? `${css.day} ${css.today}` : css.day}>
                  <Bars suppression={suppression} day={day} zone={zone} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function dayName({ date }: CalendarDay): string {
  return new Intl.DateTimeFormat('en', {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  }).format(new Date(`${date}T12:00:00Z`))
}

function Bars({
  suppression,
  day,
  zone,
}: {
  suppression: IncidentSuppression
  day: CalendarDay
  zone: string
}) {
  return barsOf(suppression, day).map(({ from, to, starts, ends }) => {
    const text = `${formatInstant(starts, zone)} to ${formatInstant(ends, zone)}`
    const style = { left: `${from * 100}%`, width: `${(to - from) * 100}%` }
    return (
      <div key={starts} className={css.bar} style={style} title={text}>
        <span className={ui.visuallyHidden}>muted {text}</span>
      </div>
    )
  })
}
