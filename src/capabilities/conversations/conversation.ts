import { z } from 'zod'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { type TaskDeps, taskSchema, tasksOfConversation } from '../tasks/index.ts'
import {
  conversationFields,
  conversationFrom,
  conversationNamed,
  conversationPath,
} from './conversation-record.ts'

/** GET /api/v1/conversations/{conversation_id}: sums, and the tasks it is made of. */
export function getConversation(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations/{conversation_id}',
    id: 'getConversation',
    summary: 'One conversation: sums, states and first tasks',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    reply: replySchema,
    errors: ['conversation_not_found'],
    handle: async ({ params, caller: { project_id } }) => {
      const row = await conversationNamed(deps, project_id, params.conversation_id)
      const { conversation_id } = row
      const found = await tasksOfConversation(deps, project_id, conversation_id, shownTasks_max)
      return {
        ...conversationFrom(row),
        task_states: found.states,
        tasks: found.tasks,
        tasks_url: `/api/v1/tasks?${new URLSearchParams({ conversation_id })}`,
      }
    },
  })
}

/** Tasks shown with a conversation; `tasks_url` lists all of them. */
const shownTasks_max = 50

const replySchema = z
  .strictObject({
    ...conversationFields,
    task_states: z
      .strictObject({
        running: z.int().nonnegative().describe('With those that are stalled.'),
        completed: z.int().nonnegative().describe('Completed ones.'),
        failed: z.int().nonnegative().describe('Failed ones.'),
        stalled: z.int().nonnegative().describe('Running ones without a call for too long.'),
      })
      .meta({ id: 'TaskStateCounts' })
      .describe('Its tasks by where they stand.'),
    tasks: z
      .array(taskSchema)
      .describe(`Its first ${shownTasks_max} tasks, in the order they started.`),
    tasks_url: z.string().describe('The path that lists all of its tasks.'),
  })
  .meta({ id: 'ConversationDetail' })
