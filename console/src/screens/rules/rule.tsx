import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api, call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { IncidentRule } from '../../api/schema.gen.d.ts'
import { useHasRole, useProject, useProjectId } from '../../session/project.ts'
import { queryClient } from '../../session/query-client.ts'
import { Changed } from '../../ui/changed.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { Button, Facts, Heading, Severity, Time } from '../../ui/parts.tsx'
import { Loaded, Loading } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { useNames } from '../shared/people.ts'
import { refreshIncidents } from '../shared/refresh-incidents.ts'
import { RulePreview } from './preview.tsx'
import { draftOf, newRule, type RuleDraft, requestOf } from './rule-draft.ts'
import { RuleFields } from './rule-fields.tsx'
import css from './rules.module.css'
import { RuleState } from './rules.tsx'

/** One rule: its fields, what it would have done, its YAML and its evaluation. */
export function Rule() {
  const { rule_id } = useParams({ from: '/p/$project_id/rules/$rule_id' })
  if (rule_id === 'new') return <Editor key="new" stored={undefined} onReload={() => undefined} />
  return <StoredRule key={rule_id} rule_id={rule_id} />
}

function StoredRule({ rule_id }: { rule_id: string }) {
  const rule = api.useQuery('get', '/api/v2/observability/incidents/rules/{rule_id}', {
    params: { path: { rule_id } },
  })
  const [reloads, setReloads] = useState(0)
  return (
    <Loaded query={rule} what="Reading the rule">
      {(data) => (
        <Editor
          key={reloads}
          stored={data}
          onReload={() => void rule.refetch().then(() => setReloads(reloads + 1))}
        />
      )}
    </Loaded>
  )
}

type EditorProps = { stored: IncidentRule | undefined; onReload: () => void }

function Editor({ stored, onReload }: EditorProps) {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const isAdmin = useHasRole('admin')
  const [draft, setDraft] = useState<RuleDraft>(() =>
    stored === undefined ? newRule() : draftOf(stored),
  )
  // The version that was opened: a later one of another person must not be overwritten.
  const [version, setVersion] = useState(stored?.version)
  const save = useSaveRule((saved) => {
    setVersion(saved.version)
    setDraft(draftOf(saved))
    const params = { project_id, rule_id: saved.rule_id }
    if (stored === undefined) void navigate({ to: '/p/$project_id/rules/$rule_id', params })
  })
  const isLocked = !isAdmin || (stored?.managed_by ?? null) !== null
  const faults = faultsOf(save.error)
  const shared = { draft, onChange: setDraft, isLocked }
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ draft, rule_id: stored?.rule_id, version })
      }}
    >
      <nav aria-label="Rules">
        <Link to="/p/$project_id/rules" params={{ project_id }}>
          Rules
        </Link>
      </nav>
      <Heading title={stored === undefined ? 'New rule' : <Plain>{stored.name}</Plain>}>
        {stored !== undefined && <DeleteRule rule={stored} isLocked={isLocked} />}
        <Button type="submit" look="primary" disabled={isLocked || save.isPending}>
          {save.isPending ? 'Saving…' : stored === undefined ? 'Create the rule' : 'Save'}
        </Button>
      </Heading>
      {stored !== undefined && <Badges of={stored} />}
      <ManagedBy by={stored?.managed_by} />
      {!isAdmin && <p className={ui.soft}>Only admins of the project can change rules.</p>}
      {save.error !== null && <Changed error={save.error} onReload={onReload} />}
      <Tabs
        label="Parts of the rule"
        tabs={[
          {
            id: 'edit',
            title: 'Fields',
            render: () => (
              <div className={css.columns}>
                <RuleFields {...shared} faults={faults} />
                <RulePreview draft={draft} />
              </div>
            ),
          },
          { id: 'yaml', title: 'YAML', render: () => <YamlTab {...shared} /> },
          ...(stored === undefined
            ? []
            : [
                {
                  id: 'evaluation',
                  title: 'Evaluation',
                  render: () => <Evaluation rule={stored} />,
                },
              ]),
        ]}
      />
    </form>
  )
}

const YamlEditor = lazy(() =>
  import('./yaml-editor.tsx').then(({ YamlEditor }) => ({ default: YamlEditor })),
)

type YamlProps = { draft: RuleDraft; isLocked: boolean; onChange: (draft: RuleDraft) => void }

/** The rule as a resource. The parser is read when the tab opens. */
function YamlTab(props: YamlProps) {
  const project = useProject()
  if (project === undefined) return <Loading />
  return (
    <Suspense fallback={<Loading />}>
      <YamlEditor {...props} project={project.name} />
    </Suspense>
  )
}

function Badges({ of }: { of: IncidentRule }) {
  const project_id = useProjectId()
  return (
    <div className={ui.row}>
      <Severity of={of.severity} />
      <RuleState of={of} />
      <Link
        to="/p/$project_id/incidents"
        params={{ project_id }}
        search={{ rule: of.name, state: 'all' } as never}
      >
        Its incidents
      </Link>
    </div>
  )
}

type Saved = { draft: RuleDraft; rule_id: string | undefined; version: number | undefined }

/** Returns a mutation that creates or replaces a rule. */
function useSaveRule(onSaved: (rule: IncidentRule) => void) {
  return useMutation({
    mutationFn: async ({ draft, rule_id, version }: Saved) => {
      const body = requestOf(draft)
      if (rule_id === undefined) {
        return (await call.POST('/api/v2/observability/incidents/rules', { body })).data
      }
      const header = { 'If-Match': `"${version}"` }
      const { data } = await call.PUT('/api/v2/observability/incidents/rules/{rule_id}', {
        params: { path: { rule_id }, header },
        body,
      })
      return data
    },
    onSuccess: async (rule, { rule_id }) => {
      if (rule === undefined) return
      notify(`The rule ${rule.name} is ${rule_id === undefined ? 'created' : 'changed'}`)
      onSaved(rule)
      await refreshIncidents(queryClient)
    },
  })
}

/** The button that deletes a rule, after a question. */
function DeleteRule({ rule, isLocked }: { rule: IncidentRule; isLocked: boolean }) {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const [isAsked, setAsked] = useState(false)
  const { rule_id, version, name, evaluation } = rule
  const remove = useMutation({
    mutationFn: () =>
      call.DELETE('/api/v2/observability/incidents/rules/{rule_id}', {
        params: { path: { rule_id }, header: { 'If-Match': `"${version}"` } },
      }),
    onSuccess: async () => {
      notify(`The rule ${name} is deleted`)
      await navigate({ to: '/p/$project_id/rules', params: { project_id } })
      await queryClient.invalidateQueries({ queryKey: ['incidents'] })
    },
    onError: notifyFault,
  })
  return (
    <>
      <Button look="danger" disabled={isLocked} onClick={() => setAsked(true)}>
        Delete…
      </Button>
      <Confirm
        title={`Delete ${name}`}
        action="Delete the rule"
        open={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => remove.mutate()}
        isRunning={remove.isPending}
      >
        <p>
          Its {formatCount(evaluation.open_incidents)} unresolved incidents stay open, and people
          resolve them.
        </p>
      </Confirm>
    </>
  )
}

/** How the stored rule is evaluated: when, on what, and what is wrong with it. */
function Evaluation({ rule }: { rule: IncidentRule }) {
  const nameOf = useNames()
  const { evaluation: of, warnings, effective_tiers = [], left_out_tiers = [] } = rule
  return (
    <div className={ui.stack}>
      <Facts
        of={[
          [
            'Newest slot',
            of.last_slot === null ? 'none yet' : <Time key="slot" at={of.last_slot} />,
          ],
          ['Evaluated', of.evaluated_at && <Time at={of.evaluated_at} />],
          ['Version', `${of.rule_version} of ${rule.version}`],
          ['Groups', formatCount(of.groups)],
          ['Groups above the limit', of.overflow > 0 ? formatCount(of.overflow) : undefined],
          ['Unresolved incidents', formatCount(of.open_incidents)],
          ['Last fired', of.last_opened_at && <Time at={of.last_opened_at} />],
          [
            'Waits for rows',
            of.partial ? `yes, the oldest is ${formatDuration(of.lag_ms)} old` : 'no',
          ],
          ['Skipped', of.gap && <Gap {...of.gap} />],
          ['Last error', of.last_error && <LongText text={of.last_error} />],
          ['Changed by', <Plain key="by">{nameOf(rule.updated_by)}</Plain>],
          ['Changed', <Time key="at" at={rule.updated_at} />],
        ]}
      />
      {warnings.length > 0 && (
        <section className={ui.stack}>
          <h2>Warnings</h2>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </section>
      )}
      {effective_tiers.length > 0 && (
        <section className={ui.stack}>
          <h2>Tiers</h2>
          <ul>
            {effective_tiers.map(({ factor, long, short, severity }) => (
              <li key={`${factor} ${long}`}>
                {factor} × over {long} and {short}: {severity}
              </li>
            ))}
            {left_out_tiers.map(({ tier, reason }) => (
              <li key={`out ${tier.factor} ${tier.long}`} className={ui.soft}>
                {tier.factor} × over {tier.long} is left out: {reason}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Gap({ from, to }: { from: string; to: string }) {
  return (
    <>
      <Time at={from} /> to <Time at={to} />
    </>
  )
}
