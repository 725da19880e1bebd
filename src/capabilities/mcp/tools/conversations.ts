import { z } from 'zod'
import { askRoute } from '../ask.ts'
import { defineTool } from '../tool.ts'
import { step } from './fields.ts'

export const getConversation = defineTool({
  name: 'get_conversation',
  title: 'Read a conversation',
  description:
    'Reads a conversation: its sums, states and first tasks. Read more of its tasks with list_tasks. Needs key scope tasks:read.',
  input: z.strictObject({
    conversation_id: z.string().min(1).max(256).describe('Its UUID, or the id of the client.'),
  }),
  more: 'List its tasks with list_tasks and conversation_id.',
  run: ({ conversation_id }, ask) =>
    askRoute(ask, { method: 'GET', path: `/api/v1/conversations/${step(conversation_id)}` }),
})

export const listDetectors = defineTool({
  name: 'list_detectors',
  title: 'List detectors',
  description:
    'Lists what is detected in tasks (loops, failures, lost context), with the thresholds of the project. Their types are finding types of list_tasks. Needs key scope tasks:read.',
  input: z.strictObject({}),
  more: 'docs/reference/detectors.md describes each detector.',
  run: (_, ask) => askRoute(ask, { method: 'GET', path: '/api/v1/detection/settings' }),
})
