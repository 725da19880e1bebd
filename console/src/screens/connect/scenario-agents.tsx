import { Link } from '@tanstack/react-router'
import type { OnboardingScenario } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { formatCount } from '../../ui/format.ts'
import { Badge, Severity } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'

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
    ...{ name: name.replaceAll('_', ' '), task_id, expected, incident_id: null },
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
      ...{ name: 'incident', about: 'A rule in shadow mode opens an incident for the loop.' },
      ...{ task_id: null, expected: ['incident'], note: '', as_expected: incident.as_expected },
      found: one(incident.incident_id === null ? null : 'incident'),
      incident_id: incident.incident_id,
    },
    {
      name: 'verification',
      about: `Checks the invented figure${verification.claim === null ? '.' : `: “${verification.claim}”`}`,
      ...{ task_id: null, expected: ['not_found or contradicted'], incident_id: null },
      found: one(verification.verdict),
      note: verification.trust_score === null ? '' : `trust ${verification.trust_score}`,
      as_expected: verification.as_expected,
    },
  ]
}

/** Expected and found findings of each sample agent, side by side. */
export function ScenarioAgents({ scenario }: { scenario: OnboardingScenario }) {
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
