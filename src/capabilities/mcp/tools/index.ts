import type { Tool } from '../tool.ts'
import { getConversation, listDetectors } from './conversations.ts'
import { getIncident, listIncidents } from './incidents.ts'
import { explainQuery, runQuery } from './queries.ts'
import { getTask, listSteps, listTasks, whyDidItFail } from './tasks.ts'
import { compareTraces, outlineTrace } from './traces.ts'

/** The tools of both transports. */
export const tools: readonly Tool[] = [
  listTasks,
  getTask,
  whyDidItFail,
  listSteps,
  outlineTrace,
  compareTraces,
  listIncidents,
  getIncident,
  runQuery,
  explainQuery,
  getConversation,
  listDetectors,
]
