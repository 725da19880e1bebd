import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import type { IncidentRule } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { queryClient } from '../../app/query-client.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { formatCount } from '../../ui/format.ts'
import { Button } from '../../ui/parts.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'

/** The button that deletes a rule, after a question. */
export function DeleteRule({ rule, isLocked }: { rule: IncidentRule; isLocked: boolean }) {
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
