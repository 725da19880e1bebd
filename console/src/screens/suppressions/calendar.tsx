import type { IncidentSuppression } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useZone } from '../../app/zone.ts'
import { formatInstant } from '../../ui/format.ts'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { barsOf, type CalendarDay, calendarDays } from './calendar.ts'
import css from './suppressions.module.css'

/** The next 14 days: one line for each suppression, with a bar while it mutes. */
export function Calendar({ suppressions }: { suppressions: readonly IncidentSuppression[] }) {
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
    ...{ weekday: 'short', month: 'short', day: 'numeric', timeZone: 'UTC' },
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
