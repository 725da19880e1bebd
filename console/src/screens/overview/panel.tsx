import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import type { AggregateAnswer } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { type Body, compactBody } from '../query/body.ts'
import { isNumeric } from '../query/cells.tsx'
import { numberOf } from '../query/chart-rows.ts'
import { ResultTable } from '../query/result-table.tsx'
import { readGroups } from '../query/run.ts'
import { TimeChart } from '../query/time-chart.tsx'
import type { Asked } from '../query/use-draft.ts'
import css from './overview.module.css'
import type { Panel } from './panels.ts'

/** Reads an aggregate, with the same key as the query screen. */
export function useAggregate(asked: Asked, enabled: boolean) {
  const project_id = useProjectId()
  return useQuery({
    queryKey: ['aggregate', project_id, asked],
    queryFn: ({ signal }) => readGroups(asked, signal),
    enabled,
    staleTime: 60_000,
  })
}

/** A link that opens a query and its rows for the range of the URL. */
export function QueryLink({ body, children }: { body: Body; children: ReactNode }) {
  const project_id = useProjectId()
  const [{ from, to }] = useUrlState()
  const search = { query: compactBody(body), run: '1', from, to }
  return (
    <Link to={`/p/${project_id}/query` as '/'} search={search as never}>
      {children}
    </Link>
  )
}

/** A chart or a table of one query, which is read when it comes near the window. */
export function PanelView({ panel, window }: { panel: Panel; window: Asked['window'] }) {
  const [place, isSeen] = useSeen<HTMLElement>()
  const asked = { body: panel.body, window }
  const query = useAggregate(asked, isSeen)
  return (
    <section ref={place} className={css.panel} aria-label={panel.title}>
      <div className={ui.row}>
        <h3 className={ui.grow}>{panel.title}</h3>
        <QueryLink body={panel.body}>
          Query<span className={ui.visuallyHidden}> {panel.title}</span>
        </QueryLink>
      </div>
      <Loaded query={query} what="Measuring">
        {(answer) => <Answer asked={asked} answer={answer} unit={panel.unit} />}
      </Loaded>
    </section>
  )
}

function Answer({
  asked,
  answer,
  unit,
}: {
  asked: Asked
  answer: AggregateAnswer
  unit: string | undefined
}) {
  const isOverTime = asked.body.group_by?.some((each) => typeof each !== 'string') === true
  if (!hasValues(answer)) return <p className={css.nothing}>Nothing in this range.</p>
  if (isOverTime) return <TimeChart asked={asked} answer={answer} {...(unit && { label: unit })} />
  const columns = answer.columns.filter(({ name }) => name !== 'other')
  return <ResultTable columns={columns} rows={answer.rows.map(named)} />
}

/** Returns whether anything was measured. Empty buckets have a row too. */
function hasValues({ rows, columns }: AggregateAnswer): boolean {
  const numbers = columns.filter(({ type }) => isNumeric(type)).map(({ name }) => name)
  return rows.some((row) => numbers.some((name) => numberOf(row[name]) !== null))
}

/** Names the row of all other groups. */
function named(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (row['other'] !== true) return row
  const [first] = Object.keys(row)
  return { ...row, ...(first !== undefined && { [first]: 'all others' }) }
}

/** Returns whether an element has come near the window, so that its query is worth its cost. */
function useSeen<E extends Element>(): [RefObject<E | null>, boolean] {
  const place = useRef<E>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (isSeen || place.current === null) return undefined
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) setSeen(true)
      },
      { rootMargin: '200px' },
    )
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [isSeen])
  return [place, isSeen]
}
