import { expect, test } from 'vitest'
import { failureRule } from '../../../../test/support/incident-steps.ts'
import { dedupKey, dedupKeyFault } from './dedup-key.ts'

const rule = (dedup_key?: string) =>
  failureRule({ dedup_key, group_by: ['model', 'release'], labels: { team: 'search' } })

test('the default is rule and group', () => {
  expect(dedupKey(rule(), { release: '2', model: 'a' })).toBe(
    'rule:["failures",{"model":"a","release":"2"}]',
  )
  expect(dedupKey(rule(), { model: 'a' })).not.toBe(dedupKey(rule(), { model: 'b' }))
})

test('`dedup_key` templates are `{{group.x}}`, `{{labels.x}}`, nothing else', () => {
  const key = '{{labels.team}}/{{ group.model }}'
  expect(dedupKeyFault(rule(key))).toBeUndefined()
  expect(dedupKey(rule(key), { model: 'gpt-4o', release: '2' })).toBe('key:search/gpt-4o')
  for (const wrong of ['{{trace_id}}', '{{group}}', '{{group.model.x}}', '{{value}}', '{{}}']) {
    expect(dedupKeyFault(rule(wrong)), wrong).toMatch(/expected \{\{group\.x\}\}/)
  }
  expect(dedupKeyFault(rule('{{group.model}'))).toMatch(/expected placeholders/)
})

test('unbounded or always-empty keys are refused', () => {
  expect(dedupKeyFault(rule('{{group.user_id}}'))).toMatch(/`group_by` lacks `user_id`/)
  expect(dedupKeyFault(rule('{{group.provider}}'))).toMatch(/always empty/)
  expect(dedupKeyFault(rule('{{labels.owner}}'))).toMatch(/always empty/)
  expect(dedupKeyFault(rule('{{labels.constructor}}'))).toMatch(/always empty/)
  expect(dedupKeyFault(rule('  '))).toMatch(/always empty/)
})

test('values that payloads choose cannot name the incident of another rule', () => {
  const victim = dedupKey(rule(), { model: 'a' })
  expect(dedupKey(rule('{{group.model}}'), { model: victim })).not.toBe(victim)
  const nested = dedupKey(rule('{{group.model}}'), { model: '{{labels.team}}' })
  expect(nested).toBe('key:{{labels.team}}')
})
