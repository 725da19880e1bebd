import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { type Fault, faultsOf } from '../../api/problem.ts'
import type { ReleasePolicy } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { Changed } from '../../ui/changed.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import css from './certification.module.css'
import { policiesPath } from './paths.ts'
import {
  draftOf,
  type GateDraft,
  limitFields,
  metrics,
  newGate,
  type RuleName,
  requestOf,
  ruleNames,
} from './policy-draft.ts'

const one = `${policiesPath}/{policy_id}` as const

/** The editor of a policy: its gates, and the rules about evidence. */
export function PolicyEditor({
  policy_id,
  stored,
  isAdmin,
}: {
  policy_id: string
  stored: ReleasePolicy
  isAdmin: boolean
}) {
  const [draft, setDraft] = useState(() => draftOf(stored.policy))
  const client = useQueryClient()
  const reload = () => client.invalidateQueries({ queryKey: ['get'] })
  const save = api.useMutation('put', one, {
    onSuccess: async () => {
      notify('The policy is saved.')
      await Promise.all([
        reload(),
        client.invalidateQueries({ queryKey: ['release-policies'] }),
        client.invalidateQueries({ queryKey: ['release-policy-versions'] }),
      ])
    },
  })
  const faults = faultsOf(save.error)
  const isLocked = !isAdmin || stored.managed_by !== null
  const params = {
    path: { policy_id },
    ...(!stored.built_in && { header: { 'If-Match': `"${stored.version}"` } }),
  }
  const setGates = (gates: typeof draft.gates) => setDraft({ ...draft, gates })
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ params, body: requestOf(draft) })
      }}
    >
      <h3>Gates</h3>
      {draft.gates.map((gate, at) => (
        <GateFields
          key={gate.key}
          at={at}
          gate={gate}
          faults={faults}
          isLocked={isLocked}
          onChange={(changed) =>
            setGates(draft.gates.map((each) => (each === gate ? changed : each)))
          }
          onRemove={() => setGates(draft.gates.filter((each) => each !== gate))}
        />
      ))}
      <div>
        <Button
          small
          disabled={isLocked}
          onClick={() => {
            const key = draft.gates.reduce((most, each) => Math.max(most, each.key), -1) + 1
            setGates([...draft.gates, newGate(key)])
          }}
        >
          Add a gate
        </Button>
      </div>
      <h3>Evidence</h3>
      <div className={css.rules}>
        {ruleNames.map((name) => (
          <TextField
            key={name}
            label={titles[name]}
            value={draft.rules[name]}
            disabled={isLocked}
            fault={faultAt(faults, `/${name}`)}
            onChange={(event) =>
              setDraft({ ...draft, rules: { ...draft.rules, [name]: event.target.value } })
            }
          />
        ))}
      </div>
      {save.error !== null && <Changed error={save.error} onReload={() => void reload()} />}
      <div className={ui.row}>
        <Button type="submit" look="primary" disabled={isLocked || save.isPending}>
          {save.isPending ? 'Saving…' : 'Save the policy'}
        </Button>
        {!stored.built_in && <RemovePolicy params={params} isLocked={isLocked} />}
        {!isAdmin && <span className={ui.soft}>Only administrators of the project change it.</span>}
      </div>
    </form>
  )
}

const titles: Record<RuleName, string> = {
  confidence: 'Confidence',
  max_age: 'Maximum age of the evidence',
  valid_for: 'Valid for',
  max_attempts: 'Attempts of a release',
  min_clusters: 'Minimum users',
  max_late_share: 'Maximum share of late tasks',
  max_equal_share: 'Maximum share of equal tasks',
  max_jump_share: 'Maximum share of sudden tasks',
  max_missing_share: 'Maximum share without a value',
}

function RemovePolicy({
  params,
  isLocked,
}: {
  params: { path: { policy_id: string }; header?: { 'If-Match': string } }
  isLocked: boolean
}) {
  const [isAsking, setAsking] = useState(false)
  const [, change] = useUrlState()
  const client = useQueryClient()
  const remove = api.useMutation('delete', one, {
    onSuccess: async () => {
      notify('The policy is deleted. Its versions stay.')
      await client.invalidateQueries({ queryKey: ['release-policies'] })
      change({ policy: undefined })
    },
    onError: notifyFault,
    onSettled: () => setAsking(false),
  })
  return (
    <>
      <Button look="danger" disabled={isLocked} onClick={() => setAsking(true)}>
        Delete the policy
      </Button>
      <Confirm
        title="Delete the policy?"
        action="Delete the policy"
        open={isAsking}
        onClose={() => setAsking(false)}
        isRunning={remove.isPending}
        onConfirm={() => remove.mutate({ params })}
      >
        <p>Certifications by it stay valid. New ones use the built-in policy.</p>
      </Confirm>
    </>
  )
}

const kinds = [
  ['absolute', 'absolute'],
  ['regression', 'regression'],
  ['zero_tolerance', 'zero tolerance'],
  ['worst_group', 'worst group'],
  ['pass_k', 'pass k'],
] as const
const tiers = [
  ['critical', 'critical'],
  ['supporting', 'supporting'],
  ['advisory', 'advisory: is only reported'],
] as const
const limitTitles = {
  threshold: 'Limit',
  max_drop: 'Maximum drop',
  max_rate: 'Maximum rate',
} as const

/** The fields of one gate. */
function GateFields({
  at,
  gate,
  faults,
  isLocked,
  onChange,
  onRemove,
}: {
  at: number
  gate: GateDraft
  faults: readonly Fault[]
  isLocked: boolean
  onChange: (gate: GateDraft) => void
  onRemove: () => void
}) {
  const limit = limitFields[gate.kind]
  const field = (name: 'limit' | 'k' | 'groups' | 'min_samples', pointer: string) => ({
    value: gate[name],
    fault: faultAt(faults, `/gates/${at}/${pointer}`),
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      onChange({ ...gate, [name]: event.target.value }),
  })
  return (
    <fieldset className={css.gate} disabled={isLocked} aria-label={`Gate ${at + 1}`}>
      <SelectField
        label="Metric"
        value={gate.metric}
        options={metrics.map((name) => [name, name.replaceAll('_', ' ')] as const)}
        fault={faultAt(faults, `/gates/${at}/metric`)}
        onChange={(event) => {
          const metric = metrics.find((each) => each === event.target.value)
          if (metric !== undefined) onChange({ ...gate, metric })
        }}
      />
      <SelectField
        label="Kind"
        value={gate.kind}
        options={kinds}
        fault={faultAt(faults, `/gates/${at}/kind`)}
        onChange={(event) => {
          const kind = kinds.find(([each]) => each === event.target.value)
          if (kind !== undefined) onChange({ ...gate, kind: kind[0] })
        }}
      />
      <TextField label={limitTitles[limit]} inputMode="decimal" {...field('limit', limit)} />
      {gate.kind === 'pass_k' && <TextField label="Repeats" {...field('k', 'k')} />}
      {gate.kind === 'worst_group' && (
        <TextField label="Task names, by comma" {...field('groups', 'groups')} />
      )}
      <SelectField
        label="Tier"
        value={gate.tier}
        options={tiers}
        onChange={(event) => {
          const tier = tiers.find(([each]) => each === event.target.value)
          if (tier !== undefined) onChange({ ...gate, tier: tier[0] })
        }}
      />
      <TextField label="Minimum samples" {...field('min_samples', 'min_samples')} />
      <Button small look="plain" onClick={onRemove} aria-label={`Remove gate ${at + 1}`}>
        Remove
      </Button>
    </fieldset>
  )
}
