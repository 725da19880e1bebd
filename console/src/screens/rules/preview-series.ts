import type { IncidentRulePreview } from '../../api/schema.gen.d.ts'
import type { ChartBand, ChartSeries } from '../../ui/chart-data.ts'

type Group = Readonly<Record<string, string>>

/** Returns the name of a group: its values, or `all` for a rule without groups. */
export function groupName(group: Group): string {
  const values = Object.values(group).map((value) => (value === '' ? '(none)' : value))
  return values.length === 0 ? 'all' : values.join(', ')
}

const series_max = 8

/** Returns the measurements of groups over one axis. Groups above the limit are left out. */
export function chartOf({ series }: Pick<IncidentRulePreview, 'series'>): {
  x: number[]
  series: ChartSeries[]
  leftOut: number
} {
  const shown = series.slice(0, series_max)
  const instants = new Set(shown.flatMap(({ points }) => points.map(({ at }) => Date.parse(at))))
  const x = [...instants].sort((one, other) => one - other)
  return {
    x,
    series: shown.map(({ group, points }) => {
      const values = new Map(points.map(({ at, value }) => [Date.parse(at), value]))
      return { name: groupName(group), values: x.map((at) => values.get(at) ?? null) }
    }),
    leftOut: series.length - shown.length,
  }
}

/** Returns the times in which groups fired. A group that still fires does until the end. */
export function firingBands({
  transitions,
  to,
}: Pick<IncidentRulePreview, 'transitions' | 'to'>): ChartBand[] {
  const since = new Map<string, number>()
  const bands: ChartBand[] = []
  for (const { at, group, type } of transitions) {
    const name = groupName(group)
    const begun = since.get(name)
    if (type === 'fired' && begun === undefined) since.set(name, Date.parse(at))
    if ((type === 'ended' || type === 'forgotten') && begun !== undefined) {
      bands.push({ from: begun, to: Date.parse(at), name: `${name} fired` })
      since.delete(name)
    }
  }
  for (const [name, from] of since) bands.push({ from, to: Date.parse(to), name: `${name} fires` })
  return bands.sort((one, other) => one.from - other.from)
}
