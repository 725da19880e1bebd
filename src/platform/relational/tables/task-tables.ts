import type {
  ByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  JsonOrNull,
  OrNull,
} from '../column-types.ts'
import type { TaskVerdict } from '../column-values.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface TaskTables {
  conversations: {
    project_id: string
    conversation_id: string
    external_id: OrNull<string>
    user_id: OrNull<string>
    started_at: Instant
    last_activity_at: Instant
    tasks: ByDefault<number>
    traces: ByDefault<number>
    calls: ByDefault<number>
    errors: ByDefault<number>
    total_tokens: ByDefault<number>
    cost_usd: ByDefault<string>
    models: ByDefault<string[]>
    updated_at: InstantByDefault
  }
  large_rollups: {
    project_id: string
    kind: 'task' | 'conversation'
    id: string
    touches: ByDefault<number>
    due_at: InstantOrNull
    rests_until: InstantOrNull
    claim: OrNull<string>
    claimed_until: InstantOrNull
  }
  recent_links: {
    project_id: string
    name: string
    is_giver: boolean
    trace_id: string
    observation_id: string
    task_id: string
    start_time: number
    seen_on: ByDefault<string>
  }
  recent_responses: {
    project_id: string
    response_id: string
    trace_id: string
    observation_id: string
    is_record: boolean
    start_time: number
    end_time: number
    seen_on: ByDefault<string>
    is_retrieved: ByDefault<boolean>
    has_usage: ByDefault<boolean>
  }
  recent_traces: {
    project_id: string
    trace_id: string
    first_start: number
    last_start: number
    gives: number
    wants: number
    moving: ByDefault<number>
    seen_on: ByDefault<string>
    joined_task_id: OrNull<string>
  }
  task_events: {
    id: string
    project_id: string
    task_id: string
    kind: 'created' | 'completed' | 'failed' | 'late_activity'
    at: Instant
    actor_kind: string
    actor_id: OrNull<string>
    note: OrNull<string>
  }
  tasks: {
    project_id: string
    task_id: string
    name: string
    user_id: OrNull<string>
    conversation_id: OrNull<string>
    implicit: boolean
    state: ByDefault<'running' | 'completed' | 'failed'>
    ended_at: InstantOrNull
    ended_by: OrNull<string>
    end_note: OrNull<string>
    created_at: InstantByDefault
    started_at: Instant
    last_activity_at: Instant
    late_activity: ByDefault<boolean>
    calls: ByDefault<number>
    merged_calls: ByDefault<number>
    errors: ByDefault<number>
    cancelled: ByDefault<number>
    input_uncached_tokens: ByDefault<number>
    cache_read_tokens: ByDefault<number>
    cache_write_tokens: ByDefault<number>
    output_visible_tokens: ByDefault<number>
    reasoning_tokens: ByDefault<number>
    total_tokens: ByDefault<number>
    estimated_calls: ByDefault<number>
    cost_usd: ByDefault<string>
    unpriced_calls: ByDefault<number>
    partially_priced_calls: ByDefault<number>
    duration_ms: ByDefault<number>
    models: ByDefault<string[]>
    providers: ByDefault<string[]>
    environment: OrNull<string>
    release: OrNull<string>
    cluster_name: OrNull<string>
    updated_at: InstantByDefault
    last_started_at: InstantOrNull
    counted: OrNull<number[]>
    worst_severity: ByDefault<number>
    wasted_tokens: ByDefault<number>
    wasted_cost_usd: ByDefault<string>
    verdict: JsonOrNull<TaskVerdict>
    trust_score: OrNull<number>
    trust_coverage: OrNull<number>
    verification_state: OrNull<'pending' | 'verified' | 'failed' | 'cancelled'>
    verified_at: InstantOrNull
  }
}
