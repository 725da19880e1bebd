import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { OnboardingScenario } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../app/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { formatDuration } from '../../ui/format.ts'
import { Progress } from '../../ui/job.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Empty, Fault, Loading } from '../../ui/states.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { ScenarioAgents } from './scenario-agents.tsx'

const path = '/api/v1/onboarding/seeded-reliability-scenario'
const poll_ms = 1_000

/** Sample agents that fail in known ways, and what the product found in them. */
export function Scenario() {
  const mayRun = useHasRole('editor')
  const report = api.useQuery('get', '/api/v1/onboarding/report')
  const isKnown = report.data !== undefined && report.data.scenario_id !== null
  const last = api.useQuery('get', path, undefined, {
    enabled: isKnown,
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? poll_ms : false),
  })
  const start = api.useMutation('post', path, { onSuccess: () => void last.refetch() })
  const run = (force_rerun: boolean) => start.mutate({ body: { force_rerun } })
  const scenario = last.data?.removed_at === null ? last.data : undefined
  const isRunning = scenario?.state === 'running' || start.isPending
  return (
    <div className={ui.stack}>
      <p>
        Five sample agents run against a scripted provider: no key and no money is needed. Four of
        them fail in a known way. Their data is in an environment of its own and does not count in
        your numbers.
      </p>
      <div className={ui.row}>
        <Button
          look={scenario === undefined ? 'primary' : undefined}
          disabled={!mayRun || isRunning}
          title={mayRun ? undefined : 'Needs the role editor in the project'}
          onClick={() => run(scenario !== undefined)}
        >
          {scenario === undefined ? 'Run the sample agents' : 'Run again'}
        </Button>
        {scenario !== undefined && <Remove isDisabled={!mayRun || isRunning} />}
        {!mayRun && <span className={ui.soft}>Running it needs the role editor.</span>}
      </div>
      {start.error !== null && <Fault error={start.error} />}
      <LastRun query={isKnown || last.data ? last : report} scenario={scenario} />
    </div>
  )
}

/** The last run, or what would be here. */
function LastRun({
  query,
  scenario,
}: {
  query: { error: unknown; isPending: boolean; refetch: () => unknown }
  scenario: OnboardingScenario | undefined
}) {
  const { error, isPending, refetch } = query
  if (scenario !== undefined) return <Run scenario={scenario} />
  if (error) return <Fault error={error} retry={() => void refetch()} />
  if (isPending) return <Loading what="Reading the last run" />
  return (
    <Empty title="No run yet">
      <p>A run takes a few seconds. Then this page shows what was expected and what was found.</p>
    </Empty>
  )
}

function Run({ scenario }: { scenario: OnboardingScenario }) {
  const { state, step, steps_done, steps_total, outcome, error, started_at, duration_ms } = scenario
  return (
    <div className={ui.stack}>
      {state === 'running' ? (
        <Progress
          label={`${step}: step ${steps_done} of ${steps_total}`}
          done={steps_done}
          of={steps_total}
        />
      ) : (
        <p className={ui.row}>
          <Badge tone={outcome === 'as_expected' ? 'good' : 'bad'}>
            {(outcome ?? 'ended').replaceAll('_', ' ')}
          </Badge>
          <span className={ui.soft}>
            Run <Time at={started_at} ago />
            {duration_ms !== null && `, took ${formatDuration(duration_ms)}`}
          </span>
        </p>
      )}
      {error !== null && <p role="alert">{error}</p>}
      <ScenarioAgents scenario={scenario} />
    </div>
  )
}

function Remove({ isDisabled }: { isDisabled: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const last = api.useQuery('get', path, undefined, { enabled: false })
  const remove = api.useMutation('delete', path, {
    onSuccess: () => {
      notify('The runs of the sample agents are being erased.')
      setOpen(false)
      void last.refetch()
    },
    onError: notifyFault,
  })
  return (
    <>
      <Button disabled={isDisabled} onClick={() => setOpen(true)}>
        Remove its data
      </Button>
      <Confirm
        title="Remove the sample data"
        action="Remove the sample data"
        open={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => remove.mutate({})}
        isRunning={remove.isPending}
      >
        <p>
          This erases the tasks, traces, findings, rules and incidents of all runs of this scenario.
        </p>
      </Confirm>
    </>
  )
}
