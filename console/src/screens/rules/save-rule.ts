import { useMutation } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import type { IncidentRule } from '../../api/schema.gen.d.ts'
import { queryClient } from '../../app/query-client.ts'
import { notify } from '../../ui/toasts.tsx'
import { refreshIncidents } from '../incidents/move-incident.ts'
import { type RuleDraft, requestOf } from './rule-draft.ts'

type Saved = { draft: RuleDraft; rule_id: string | undefined; version: number | undefined }

/** Returns a mutation that creates or replaces a rule. */
export function useSaveRule(onSaved: (rule: IncidentRule) => void) {
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
