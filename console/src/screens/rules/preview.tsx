import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { call } from '../../api/client.ts'
import type { IncidentRulePreview } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { Chart } from '../../ui/chart.tsx'
import { Choice } from '../../ui/fields.tsx'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { Badge, Button, Facts, Severity, Tile, Time } from '../../ui/parts.tsx'
import { Fault, Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { chartOf, firingBands, groupName } from './preview-series.ts'
import { type RuleDraft, requestOf } from './rule-draft.ts'
import css from './rules.module.css'

/** Time without typing after which the preview is read. */
const settle_ms = 700

const ranges = [
  ['1', 'Last day, while you type'],
  ['7', 'Backtest of 7 days'],
  ['14', 'Backtest of 14 days'],
  ['28', 'Backtest of 28 days'],
] as const

/**
 * The outcome of a rule on stored rows. One day is evaluated while a person types; a longer
 * backtest costs more, so it is asked for.
 */
export function RulePreview({ draft }: { draft: RuleDraft }) {
  const project_id = useProjectId()
  const [{ days: given }, change] = useUrlState()
  const days = ranges.find(([each]) => each === given)?.[0] ?? '1'
  const settled = useSettled(JSON.stringify(draft))
  const [asked, setAsked] = useState('')
  const wanted = days === '1' ? settled : asked
  const preview = useQuery({
    queryKey: ['rule-preview', project_id, days, wanted],
    queryFn: ({ signal }) => inTurn(() => readPreview(wanted, Number(days), signal)),
    enabled: wanted !== '',
    staleTime: 60_000,
    placeholderData: (before) => before,
  })
  const { data, error, isFetching } = preview
  const isOld = days !== '1' && asked !== '' && asked !== JSON.stringify(draft)
  return (
    <section className={css.preview} aria-label="Preview">
      <div className={ui.row}>
        <h2 className={ui.grow}>What it would have done</h2>
        <Choice
          label="Range"
          value={days}
          choices={ranges}
          onChoose={(value) => change({ days: value === '1' ? undefined : value })}
        />
        {days !== '1' && (
          <Button disabled={isFetching} onClick={() => setAsked(JSON.stringify(draft))}>
            {isFetching ? 'Evaluating…' : 'Run'}
          </Button>
        )}
      </div>
      {error !== null && <Fault error={error} retry={() => void preview.refetch()} />}
      {isOld && <p>The rule changed since: run the backtest again.</p>}
      {data === undefined && wanted !== '' && error === null && <Loading what="Evaluating" />}
      {data !== undefined && data !== null && <Outcome of={data} draft={draft} />}
    </section>
  )
}

let last: Promise<unknown> = Promise.resolve()

/** Runs one preview after the other: the API refuses a second one of a project. */
function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const next = last.then(run)
  last = next.catch(() => undefined)
  return next
}

/**
 * Reads a preview. One that is no longer wanted is not begun; one that runs is not cut off, because
 * the API is still busy with it.
 */
async function readPreview(text: string, days: number, { aborted }: AbortSignal) {
  if (aborted) return null
  const rule = JSON.parse(text) as RuleDraft
  // The name is typed, and does not matter for a preview.
  const named = { ...rule, name: 'preview' }
  const { data } = await call.POST('/api/v2/observability/incidents/rules/preview', {
    body: { rule: requestOf(named), days },
  })
  return data ?? null
}

/** Returns a text once it has not changed for a while. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settle_ms)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

function Outcome({ of, draft }: { of: IncidentRulePreview; draft: RuleDraft }) {
  const { x, series, leftOut } = useMemo(() => chartOf(of), [of])
  const bands = useMemo(() => firingBands(of), [of])
  const threshold = thresholdOf(draft)
  const limits = useMemo(
    () => (threshold === undefined ? [] : [{ value: threshold, name: `limit ${threshold}` }]),
    [threshold],
  )
  return (
    <>
      <div className={ui.tiles}>
        <Tile name="Incidents">{formatCount(of.incidents)}</Tile>
        <Tile name="Pages a week">
          {of.pages_per_week === null ? '–' : of.pages_per_week.toFixed(1)}
        </Tile>
        <Tile name="Firing">
          {of.minutes_firing === 0 ? 'never' : formatDuration(of.minutes_firing * 60_000)}
        </Tile>
        <Tile name="Groups">{formatCount(of.groups)}</Tile>
      </div>
      {x.length > 0 ? (
        <Chart label="Value of the signal" {...{ x, series, bands, limits }} format={formatValue} />
      ) : (
        <p className={ui.soft}>
          {draft.event !== undefined
            ? 'An event rule has no values: its matches are below.'
            : 'No stored rows in this range.'}
        </p>
      )}
      {leftOut > 0 && <p className={ui.soft}>{formatCount(leftOut)} more groups are not shown.</p>}
      <Facts
        of={[
          ['Evaluated', formatDuration(of.evaluated_minutes * 60_000)],
          ['Stored rows since', of.available_from && <Time at={of.available_from} />],
          [
            'Would notify',
            of.recipients.length === 0 ? (
              'nobody'
            ) : (
              <Plain key="to">{of.recipients.join(', ')}</Plain>
            ),
          ],
          ['Messages', messagesText(of)],
          ['Above the limit', of.overflow > 0 ? `${formatCount(of.overflow)} groups` : undefined],
        ]}
      />
      {of.warnings.map((warning) => (
        <p key={warning}>Warning: {warning}</p>
      ))}
      <Transitions of={of} />
    </>
  )
}

function messagesText({ messages }: IncidentRulePreview): string | undefined {
  const parts = Object.entries(messages).filter(([, count]) => count > 0)
  if (parts.length === 0) return undefined
  return parts.map(([reason, n]) => `${formatCount(n)} ${reason.replaceAll('_', ' ')}`).join(', ')
}

function thresholdOf({ condition, baseline }: RuleDraft): number | undefined {
  if (condition !== undefined && 'threshold' in condition) {
    const value = Number(condition.threshold)
    return Number.isFinite(value) ? value : undefined
  }
  return baseline?.floor
}

function formatValue(value: number): string {
  if (value !== 0 && Math.abs(value) < 1) return value.toPrecision(2)
  return value.toLocaleString('en', { maximumFractionDigits: 1 })
}

const rows_max = 100
const tones = { fired: 'bad', raised: 'bad', ended: 'good', forgotten: undefined } as const

/** The changes of groups that a backtest found. */
function Transitions({ of }: { of: IncidentRulePreview }) {
  const rows = of.transitions
    .slice(0, rows_max)
    .map((each, index) => ({ ...each, key: `${index}` }))
  if (rows.length === 0) return <p>It would not have fired.</p>
  return (
    <>
      <h3>Changes</h3>
      <Table
        label="Changes"
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          { id: 'at', head: 'At', cell: ({ at }) => <Time at={at} /> },
          { id: 'group', head: 'Group', cell: ({ group }) => <Plain>{groupName(group)}</Plain> },
          {
            id: 'type',
            head: 'Change',
            cell: ({ type }) => <Badge tone={tones[type]}>{type}</Badge>,
          },
          {
            id: 'severity',
            head: 'Severity',
            cell: ({ severity }) => (severity === null ? '–' : <Severity of={severity} />),
          },
        ]}
      />
      {of.transitions_total > rows.length && (
        <p className={ui.soft}>
          {formatCount(of.transitions_total - rows.length)} more are not shown.
        </p>
      )}
    </>
  )
}
