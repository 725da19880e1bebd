import type { PatternInput } from '../../src/capabilities/feedback/patterns/find-patterns.ts'
import {
  countFeatures,
  type RatedTask,
} from '../../src/capabilities/feedback/patterns/rated-task.ts'
import { randomNumbers } from './otlp-requests.ts'

/** A simulated project: users have moods and favourite features. */
export type SimulatedFeedback = {
  seed: number
  users: number
  tasks_each: number
  features: number
  /** Number of features that add `effect` to the chance of negative feedback. */
  planted: number
  effect: number
}

/** Simulates rated tasks. Moods are uniform from 0.05 to 0.65, so users differ strongly. */
export function simulateTasks(about: SimulatedFeedback): RatedTask[] {
  const random = randomNumbers(about.seed)
  const tasks: RatedTask[] = []
  for (let user = 0; user < about.users; user += 1) {
    const mood = 0.05 + 0.6 * random()
    const likes = Array.from({ length: about.features }, () => (random() < 0.15 ? 0.6 : 0.05))
    for (let task = 0; task < about.tasks_each; task += 1) {
      const features = likes.flatMap((like, at) => (random() < like ? [at] : []))
      const added = features.some((at) => at < about.planted) ? about.effect : 0
      tasks.push({
        user: `u${user}`,
        is_negative: random() < Math.min(1, mood + added),
        features: features.map((at) => `f${at}`),
      })
    }
  }
  return tasks
}

/** Simulates the counts of a project. */
export function simulateFeedback(about: SimulatedFeedback): PatternInput {
  return countFeatures(simulateTasks(about))
}
