import { Link, useNavigate } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { IncidentRule } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useLive } from '../../session/live.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Choice } from '../../ui/fields.tsx'
import { formatCount } from '../../ui/format.ts'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Heading, Severity, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { ownerOf, useNames } from '../shared/people.ts'
import { kinds, signalOf } from './rule-draft.ts'

const page = 100

/** The rules of a project: what opens incidents, and whether it fires. */
export function Rules() {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const isAdmin = useHasRole('admin')
  const nameOf = useNames()
  const [search, change] = useUrlState()
  const kind = kinds.find(([each]) => each === search['kind'])?.[0]
  const name = search['name']
  const query = { ...(kind && { kind }), ...(name && { name }), limit: page }
  const rules = usePages(
    ['incidents', project_id, 'rules', query],
    (cursor, signal) =>
      call.GET('/api/v2/observability/incidents/rules', {
        params: { query: { ...query, cursor } },
        signal,
      }),
    (each) => each.rules,
  )
  useLive('incidents', () => void rules.refetch())
  const open = (rule_id: string) =>
    void navigate({ to: '/p/$project_id/rules/$rule_id', params: { project_id, rule_id } })
  return (
    <>
      <Heading title="Rules">
        <Button look="primary" disabled={!isAdmin} onClick={() => open('new')}>
          New rule
        </Button>
      </Heading>
      {!isAdmin && <p className={ui.soft}>Only admins of the project can change rules.</p>}
      <search className={ui.row}>
        <Choice
          label="Kind"
          value={kind ?? ''}
          choices={[['', 'All kinds'], ...kinds]}
          onChoose={(value) => change({ kind: value })}
        />
        {name !== undefined && (
          <Button small onClick={() => change({ name: undefined })}>
            Name <Plain>{name}</Plain> ×
          </Button>
        )}
      </search>
      <List
        label="Rules"
        pages={rules}
        columns={columns(project_id, nameOf)}
        keyOf={({ rule_id }) => rule_id}
        onOpen={({ rule_id }) => open(rule_id)}
        empty={
          kind !== undefined || name !== undefined ? (
            <Empty title="No rule matches the filters" />
          ) : (
            <Empty title="No rules">
              <p>A rule opens an incident when a signal is beyond its limit, or at a finding.</p>
            </Empty>
          )
        }
      />
    </>
  )
}

const columns = (project_id: string, nameOf: (by: string) => string): Column<IncidentRule>[] => [
  {
    id: 'name',
    head: 'Rule',
    cell: ({ rule_id, name, description, warnings }) => (
      <>
        <Link to="/p/$project_id/rules/$rule_id" params={{ project_id, rule_id }}>
          <Plain>{name}</Plain>
        </Link>{' '}
        {warnings.length > 0 && <Badge tone="warn">{formatCount(warnings.length)} warnings</Badge>}
        {description !== undefined && description !== '' && (
          <div className={ui.soft}>
            <Plain>{description.slice(0, 120)}</Plain>
          </div>
        )}
      </>
    ),
  },
  { id: 'signal', head: 'Watches', wide: true, cell: (rule) => <Plain>{signalOf(rule)}</Plain> },
  { id: 'severity', head: 'Severity', cell: ({ severity }) => <Severity of={severity} /> },
  { id: 'state', head: 'State', cell: (rule) => <RuleState of={rule} /> },
  {
    id: 'open',
    head: 'Open',
    number: true,
    cell: ({ name, evaluation: { open_incidents } }) =>
      open_incidents === 0 ? (
        '0'
      ) : (
        <Link
          to="/p/$project_id/incidents"
          params={{ project_id }}
          search={{ rule: name } as never}
        >
          {formatCount(open_incidents)}
        </Link>
      ),
  },
  {
    id: 'fired',
    head: 'Last fired',
    number: true,
    wide: true,
    cell: ({ evaluation: { last_opened_at } }) =>
      last_opened_at === null ? 'never' : <Time at={last_opened_at} ago />,
  },
  {
    id: 'owner',
    head: 'Owner',
    wide: true,
    cell: (rule) => <Plain>{ownerOf(rule, nameOf)}</Plain>,
  },
]

/** The state of a rule, with marks for modes in which it is quiet. */
export function RuleState({ of }: { of: Pick<IncidentRule, 'suspend' | 'mode' | 'evaluation'> }) {
  const { firing, healthy, last_slot } = of.evaluation
  return (
    <span className={ui.row}>
      {of.suspend ? (
        <Badge>suspended</Badge>
      ) : firing ? (
        <Badge tone="bad">firing</Badge>
      ) : !healthy ? (
        <Badge tone="warn">unhealthy</Badge>
      ) : last_slot === null ? (
        <Badge tone="info">not evaluated yet</Badge>
      ) : (
        <Badge tone="good">ok</Badge>
      )}
      {of.mode === 'shadow' && <Badge>shadow</Badge>}
    </span>
  )
}
