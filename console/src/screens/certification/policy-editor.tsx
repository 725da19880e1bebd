import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import type { ReleasePolicy } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../app/use-search.ts'
import { Changed } from '../../ui/changed.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import css from './certification.module.css'
import { GateFields } from './gate-fields.tsx'
import { policiesPath } from './paths.ts'
import { draftOf, newGate, type RuleName, requestOf, ruleNames } from './policy-draft.ts'

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
  const faults = save.error instanceof Problem ? save.error.faults : []
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
