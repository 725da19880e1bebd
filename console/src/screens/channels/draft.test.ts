import { expect, test } from 'vitest'
import type { NotificationChannel } from '../../api/schema.gen.d.ts'
import { draftOf, newDraft, requestOf } from './draft.ts'

const rest = { fallback: null, disabled: false, templates: {} }

const stored: NotificationChannel = {
  ...{ channel_id: '0199f4de-0000-7000-8000-000000000001', name: 'chat', type: 'slack' },
  slack: { channel: '#agents', answer_links: false, webhook_host: null },
  secrets: { token: { set: true } },
  ...{ generated_secret: null, fallback: 'mail', disabled: false, disabled_at: null },
  ...{ disabled_reason: null, unusable_reason: null, templates: { title: '{{title}}' } },
  ...{ version: 3, managed_by: null, created_at: '', updated_at: '', updated_by: '' },
}

test('a stored channel survives editing, and its secret is left out', () => {
  expect(requestOf(draftOf(stored))).toEqual({
    ...{ name: 'chat', fallback: 'mail', disabled: false, templates: { title: '{{title}}' } },
    slack: { channel: '#agents', answer_links: false },
  })
})

test('a typed secret is sent in the section of the type', () => {
  const draft = { ...newDraft(), name: 'pager', type: 'pagerduty' as const }
  expect(requestOf({ ...draft, secrets: { routing_key: 'k', token: 'of another type' } })).toEqual({
    ...{ name: 'pager', pagerduty: { routing_key: 'k' } },
    ...rest,
  })
})

test('a webhook without a new URL keeps the stored one', () => {
  const webhook: NotificationChannel = { ...stored, type: 'webhook', webhook: { url: null } }
  const { slack: _, ...without } = webhook
  expect(requestOf(draftOf(without))).toMatchObject({ webhook: {} })
})

test('addresses are split at commas, semicolons and white space', () => {
  const draft = { ...newDraft(), name: 'mail', type: 'email' as const }
  expect(requestOf({ ...draft, to: 'a@example.com, b@example.com;\nc@example.com ' })).toEqual({
    ...{ name: 'mail', ...rest },
    email: { to: ['a@example.com', 'b@example.com', 'c@example.com'], answer_links: true },
  })
})
