import { useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { ApiKey } from '../../api/schema.gen.d.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { Fault } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import type { OnDone } from './rotate-key.tsx'

/** Ends a key. A leaked key of a service account is revoked as an emergency, with a reason. */
export function RevokeKey({
  of: key,
  onClose,
  onDone,
}: {
  of: ApiKey
  onClose: () => void
  onDone: OnDone
}) {
  const [isEmergency, setEmergency] = useState(false)
  const [reason, setReason] = useState('')
  const revoke = api.useMutation(
    'post',
    '/api/v2/access/projects/{project_id}/api-keys/{api_key_id}/revoke',
    { onSuccess: () => void onDone(`The key ${key.name} is revoked.`) },
  )
  const send = () =>
    revoke.mutate({
      params: { path: { project_id: key.project_id, api_key_id: key.id } },
      body: isEmergency ? { emergency: true, reason } : {},
    })
  return (
    <Confirm
      title="Revoke the key"
      action="Revoke the key"
      open
      onClose={onClose}
      onConfirm={send}
      isRunning={revoke.isPending}
    >
      <p>
        Calls with <Plain>{key.name}</Plain> (<code>{key.prefix}…</code>) are refused at once here,
        and within 30 s by other processes. A revoked key does not come back.
      </p>
      {key.service_account_id !== null && (
        <CheckField
          label="The key leaked: suspend its service account too, even if a resource manages it"
          checked={isEmergency}
          onChange={(event) => setEmergency(event.target.checked)}
        />
      )}
      {isEmergency && (
        <TextField
          label="Reason"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          fault={faultAt(faultsOf(revoke.error), '/reason')}
          hint="It is kept on record and shown in the status of the resource."
        />
      )}
      {revoke.error !== null && <Fault error={revoke.error} />}
    </Confirm>
  )
}
