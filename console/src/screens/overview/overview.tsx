import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useProjectId } from '../../app/project.ts'
import { defaultFrom } from '../../app/time-range.ts'
import { useUrlState } from '../../app/use-search.ts'
import { Button, Heading } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import { widthFor } from '../query/drill.ts'
import { type Instants, useInstants } from '../query/use-draft.ts'
import { DeadLetters, LedgerPanel } from './health.tsx'
import { OpenIncidents, useWorstTasks, WorstTasks } from './lists.tsx'
import css from './overview.module.css'
import { PanelView, useAggregate } from './panel.tsx'
import {
  costPanels,
  errorPanels,
  ingestPanel,
  latencyPanels,
  type Panel,
  totals,
  wastePanels,
} from './panels.ts'
import { Receipt } from './receipt.tsx'
import { Totals } from './totals.tsx'

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
