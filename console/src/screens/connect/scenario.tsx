import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { OnboardingScenario } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { Progress } from '../../ui/job.tsx'
import { Badge, Button, Severity, Time } from '../../ui/parts.tsx'
import { Empty, Fault, Loading } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

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

type Agent = OnboardingScenario['agents'][number]

/** A row of the comparison: an agent, the rule that had to fire, or the check of the figure. */
type Row = {
  name: string
  about: string
  task_id: string | null
  expected: readonly string[]
  found: readonly { id: string; type: string; severity: string | null }[]
  note: string
  as_expected: boolean | null
  incident_id: string | null
}

function rowOf({ name, about, task_id, calls, expected, found, ...rest }: Agent): Row {
  const notes = [
    ...rest.missing.map((type) => `missing: ${type}`),
    ...rest.unexpected.map((type) => `not expected: ${type}`),
  ]
  return {
    name: name.replaceAll('_', ' '),
    task_id,
    expected,
    incident_id: null,
    about: `${about} ${formatCount(calls)} calls.`,
    found: found.map(({ finding_id, type, severity }) => ({ id: finding_id, type, severity })),
    note: notes.join(', '),
    as_expected: rest.as_expected,
  }
}

/** Returns the rows of a run, with its incident and its verification at the end. */
function rowsOf({ agents, incident, verification }: OnboardingScenario): Row[] {
  const one = (type: string | null) => (type === null ? [] : [{ id: type, type, severity: null }])
  return [
    ...agents.map(rowOf),
    {
      name: 'incident',
      about: 'A rule in shadow mode opens an incident for the loop.',
      task_id: null,
      expected: ['incident'],
      note: '',
      as_expected: incident.as_expected,
      found: one(incident.incident_id === null ? null : 'incident'),
      incident_id: incident.incident_id,
    },
    {
      name: 'verification',
      about: `Checks the invented figure${verification.claim === null ? '.' : `: “${verification.claim}”`}`,
      task_id: null,
      expected: ['not_found or contradicted'],
      incident_id: null,
      found: one(verification.verdict),
      note: verification.trust_score === null ? '' : `trust ${verification.trust_score}`,
      as_expected: verification.as_expected,
    },
  ]
}

/** Expected and found findings of each sample agent, side by side. */
function ScenarioAgents({ scenario }: { scenario: OnboardingScenario }) {
  const project_id = useProjectId()
  return (
    <Table
      label="Expected and found"
      rows={rowsOf(scenario)}
      keyOf={({ name }) => name}
      columns={columns(project_id)}
    />
  )
}

const columns = (project_id: string): Column<Row>[] => [
  {
    id: 'agent',
    head: 'Agent',
    cell: ({ name, about, task_id, incident_id }) => (
      <>
        {task_id !== null && (
          <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
            {name}
          </Link>
        )}
        {incident_id !== null && (
          <Link to="/p/$project_id/incidents/$incident_id" params={{ project_id, incident_id }}>
            {name}
          </Link>
        )}
        {task_id === null && incident_id === null && name}
        <div>
          <Plain>{about}</Plain>
        </div>
      </>
    ),
  },
  {
    id: 'expected',
    head: 'Expected',
    cell: ({ expected }) => (expected.length === 0 ? 'nothing' : expected.join(', ')),
  },
  {
    id: 'found',
    head: 'Found',
    cell: ({ found, note, as_expected }) => (
      <>
        {found.length === 0 && (as_expected === null ? '…' : 'nothing')}
        {found.map(({ id, type, severity }) => (
          <div key={id}>
            {type} {severity !== null && <Severity of={severity} />}
          </div>
        ))}
        {note !== '' && <div>{note}</div>}
      </>
    ),
  },
  {
    id: 'result',
    head: 'Result',
    cell: ({ as_expected }) =>
      as_expected === null ? (
        'not known yet'
      ) : (
        <Badge tone={as_expected ? 'good' : 'bad'}>{as_expected ? 'as expected' : 'differs'}</Badge>
      ),
  },
]
