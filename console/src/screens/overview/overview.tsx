import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api } from '../../api/client.ts'
import type { IngestStatus } from '../../api/schema.gen.d.ts'
import { defaultFrom } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount } from '../../ui/format.ts'
import { Button, Facts, Heading, State, Time } from '../../ui/parts.tsx'
import { Empty, Fault, Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { formatNumber } from '../query/cells.tsx'
import { numberOf } from '../query/chart-rows.ts'
import { widthFor } from '../query/drill.ts'
import { type Asked, type Instants, useInstants } from '../query/use-draft.ts'
import { DeadLetters, LedgerPanel } from './health.tsx'
import { OpenIncidents, useWorstTasks, WorstTasks } from './lists.tsx'
import css from './overview.module.css'
import { PanelView, QueryLink, useAggregate } from './panel.tsx'
import {
  changeText,
  costPanels,
  errorPanels,
  ingestPanel,
  latencyPanels,
  type Panel,
  rangeBefore,
  totals,
  waste,
  wastePanels,
} from './panels.ts'

/** The questions of a platform team: failures, costs, latency, and whether all records arrive. */
export function Overview() {
  const { window, again } = useInstants()
  const client = useQueryClient()
  const tasks = useWorstTasks(window)
  const sums = useAggregate({ body: totals, window }, true)
  const isEmpty = tasks.data?.tasks.length === 0 && sums.data?.rows[0]?.['calls'] === 0
  // Rows come before numbers, and a range without tasks may have nothing to measure.
  const isListed = (tasks.data?.tasks.length ?? 0) > 0 || tasks.error !== null
  const isMeasured = isListed || (tasks.data !== undefined && !sums.isPending)
  const refresh = () => {
    again()
    void client.invalidateQueries()
  }
  return (
    <>
      <Heading title="Overview">
        <Button onClick={refresh}>Refresh</Button>
      </Heading>
      {isEmpty ? (
        <NothingYet />
      ) : (
        <>
          <div className={css.two}>
            <OpenIncidents />
            <WorstTasks query={tasks} />
          </div>
          <Totals window={window} />
          {isMeasured && <Questions window={window} />}
        </>
      )}
      <Question title="Ingest health" window={window} panels={[]}>
        <LedgerPanel window={window} />
        {isMeasured && !isEmpty && (
          <PanelView panel={ingestPanel(widthFor(window))} window={window} />
        )}
        <DeadLetters />
        <Receipt />
      </Question>
    </>
  )
}

function Questions({ window }: { window: Instants }) {
  const width = widthFor(window)
  return (
    <>
      <Question title="Cost" window={window} panels={costPanels(width)} />
      <Question title="Errors" window={window} panels={errorPanels(width)} />
      <Question title="Latency" window={window} panels={latencyPanels(width)} />
      <Question title="Loops and wasted money" window={window} panels={wastePanels(width)} />
    </>
  )
}

function Question({
  title,
  window,
  panels,
  children,
}: {
  title: string
  window: Instants
  panels: readonly Panel[]
  children?: React.ReactNode
}) {
  return (
    <>
      <h2>{title}</h2>
      <div className={css.two}>
        {panels.map((panel) => (
          <PanelView key={panel.title} panel={panel} window={window} />
        ))}
        {children}
      </div>
    </>
  )
}

function NothingYet() {
  const project_id = useProjectId()
  const [search, change] = useUrlState()
  const isWide = (search['from'] ?? defaultFrom) === '-30d'
  return (
    <Empty title="No calls in this range">
      <p>Point an agent at Looptrace: its first call appears here within seconds.</p>
      <Link to={`/p/${project_id}/connect` as '/'}>Connect an agent</Link>
      <p>
        Or in a terminal: <code>looptrace connect</code>
      </p>
      {!isWide && (
        <Button onClick={() => change({ from: '-30d', to: undefined })}>
          Show the last 30 days
        </Button>
      )}
    </Empty>
  )
}

/** Looks up what became of one batch, by the id that its sender got. */
function Receipt() {
  const [search, change] = useUrlState()
  const id = search['receipt']
  const [typed, setTyped] = useState(id ?? '')
  return (
    <section className={css.panel} aria-label="Receipt">
      <h3>Receipt of a batch</h3>
      <form
        className={ui.row}
        onSubmit={(event) => {
          event.preventDefault()
          change({ receipt: typed.trim() === '' ? undefined : typed.trim() })
        }}
      >
        <input
          type="text"
          className={ui.grow}
          aria-label="ingest_request_id"
          placeholder="ingest_request_id of the answer"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button type="submit">Look up</Button>
      </form>
      {id !== undefined && <Found id={id} />}
    </section>
  )
}

function Found({ id }: { id: string }) {
  const query = api.useQuery('get', '/api/v2/observability/ingest/{ingest_request_id}', {
    params: { path: { ingest_request_id: id } },
  })
  return (
    <Loaded query={query} what="Reading the receipt">
      {(found) => <Status of={found as IngestStatus} />}
    </Loaded>
  )
}

function Status({ of }: { of: IngestStatus }) {
  const { status, attempts, first_seen_at, last_seen_at, replayed_hits, error_reason } = of
  const result = of.result_payload
  return (
    <>
      <Facts
        of={[
          ['State', <State key="state" of={status} />],
          ['Schema', of.schema_version],
          ['First seen', <Time key="first" at={first_seen_at} />],
          ['Last seen', <Time key="last" at={last_seen_at} />],
          ['Attempts', formatCount(attempts)],
          ['Sent again', formatCount(replayed_hits)],
          ['Reason', error_reason === null ? null : <Plain key="reason">{error_reason}</Plain>],
          ['Observations', result && formatCount(result.observations)],
          ['Traces', result && formatCount(result.traces)],
          ['Rejected', result && formatCount(result.rejected)],
        ]}
      />
      {result?.errors.map(({ pointer, detail }) => (
        <p key={pointer}>
          <code>
            <Plain>{pointer}</Plain>
          </code>
          : <Plain>{detail}</Plain>
        </p>
      ))}
    </>
  )
}

const tiles = [
  ['Cost', 'cost_usd'],
  ['Calls', 'calls'],
  ['Tokens', 'total_tokens'],
  ['Failed calls', 'error_rate'],
  ['95 % of calls within', 'p95_duration_ms'],
  ['95 % of first tokens within', 'p95_time_to_first_token_ms'],
] as const

const wasteTiles = [
  ['Findings', 'findings'],
  ['Wasted', 'wasted_cost_usd'],
] as const

/** The sums of the range beside those of the range before it. */
function Totals({ window }: { window: Asked['window'] }) {
  const before = rangeBefore(window)
  const now = useAggregate({ body: totals, window }, true)
  const earlier = useAggregate({ body: totals, window: before }, now.data !== undefined)
  const wasted = useAggregate({ body: waste, window }, true)
  const wastedBefore = useAggregate({ body: waste, window: before }, wasted.data !== undefined)
  const error = now.error ?? wasted.error
  const retry = () => void Promise.all([now.refetch(), wasted.refetch()])
  return (
    <>
      {error !== null && <Fault error={error} retry={retry} />}
      <div className={css.tiles}>
        {tiles.map(([name, column]) => (
          <SumTile
            key={column}
            name={name}
            column={column}
            row={now.data?.rows[0]}
            before={earlier.data?.rows[0]}
          >
            <QueryLink body={totals}>
              Query<span className={ui.visuallyHidden}> {name}</span>
            </QueryLink>
          </SumTile>
        ))}
        {wasteTiles.map(([name, column]) => (
          <SumTile
            key={column}
            name={name}
            column={column}
            row={wasted.data?.rows[0]}
            before={wastedBefore.data?.rows[0]}
          >
            <QueryLink body={waste}>
              Query<span className={ui.visuallyHidden}> {name}</span>
            </QueryLink>
          </SumTile>
        ))}
      </div>
    </>
  )
}

type Sums = Readonly<Record<string, unknown>> | undefined

function SumTile({
  name,
  column,
  row,
  before,
  children,
}: {
  name: string
  column: string
  row: Sums
  before: Sums
  children: ReactNode
}) {
  const value = numberOf(row?.[column])
  const text = value === null ? '–' : formatNumber(column, value)
  return (
    <div className={css.tile}>
      <span className={ui.soft}>{name}</span>
      <strong>{row === undefined ? '…' : text}</strong>
      <span className={ui.soft}>{changeText(value, numberOf(before?.[column])) ?? ' '}</span>
      {children}
    </div>
  )
}
