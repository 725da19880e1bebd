import { Link, useParams } from '@tanstack/react-router'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount, formatDuration, formatUsd } from '../../ui/format.ts'
import { Heading, Tile, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { CompareForm } from './compare-form.tsx'
import { CriticalPath } from './critical-path.tsx'
import { OutlineView } from './outline-view.tsx'
import { type Source, useTree } from './read-outline.ts'

/** One trace: its tree, its waterfall and its critical path. */
export function Trace() {
  const { trace_id } = useParams({ from: '/p/$project_id/traces/$trace_id' })
  const source: Source = { kind: 'trace', id: trace_id }
  return (
    <>
      <Heading title="Trace">
        <CompareForm left={trace_id} />
      </Heading>
      <Summary source={source} />
      <Tabs
        label="Views of the trace"
        tabs={[
          {
            id: 'waterfall',
            title: 'Waterfall',
            render: () => <OutlineView source={source} mode="waterfall" />,
          },
          {
            id: 'steps',
            title: 'Steps',
            render: () => <OutlineView source={source} mode="tree" />,
          },
          {
            id: 'path',
            title: 'Critical path',
            render: () => <CriticalPath source={source} treeTab={undefined} />,
          },
        ]}
      />
    </>
  )
}

function Summary({ source }: { source: Source }) {
  const project_id = useProjectId()
  const query = useTree(source)
  const [, change] = useUrlState()
  return (
    <Loaded query={query} what="Reading the trace">
      {({ outline: { summary, findings } }) => (
        <>
          <p>
            {summary.task_id !== null && (
              <>
                Task{' '}
                <Link
                  to="/p/$project_id/tasks/$task_id"
                  params={{ project_id, task_id: summary.task_id }}
                >
                  <Plain>{summary.task_name ?? summary.task_id}</Plain>
                </Link>
                {' · '}
              </>
            )}
            {summary.start_time !== null && <Time at={summary.start_time} />}
          </p>
          <div className={ui.tiles}>
            <Tile name="Duration">{formatDuration(summary.duration_ms)}</Tile>
            <Tile name="Steps">{formatCount(summary.rollup.observations)}</Tile>
            <Tile name="Model calls">{formatCount(summary.rollup.calls)}</Tile>
            <Tile name="Errors">{formatCount(summary.rollup.errors)}</Tile>
            <Tile name="Cost">{formatUsd(summary.rollup.cost_usd)}</Tile>
          </div>
          {findings.map((finding) => (
            <p key={finding.finding_id} className={ui.notice}>
              <span className={ui.grow}>
                <Plain>{finding.summary}</Plain>
              </span>
              <button
                type="button"
                onClick={() => change({ node: query.data?.outline.ids[finding.nodes[0] ?? -1] })}
              >
                Show the step
              </button>
            </p>
          ))}
        </>
      )}
    </Loaded>
  )
}
