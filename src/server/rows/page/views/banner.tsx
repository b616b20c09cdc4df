import { fixOf, isStoring, momentInWords, type HealthWord } from '../state/health.js';
import { Message } from './message.js';

/** Says over every tab that rows are not stored: since when, what pages do meanwhile, and what to do. */
export const Banner = ({ health, now }: { health: HealthWord | undefined; now: number }) => {
  if (!health || isStoring(health)) return null;
  const { since, problem } = health.storing;
  return (
    <div class="banner wash wrong" role="alert">
      <p>
        <b>
          <span aria-hidden="true">✕ </span>Rows are not stored
          {since && ` since ${momentInWords(since, now)}`}
          {problem && (
            <>
              : <Message of={problem} />
            </>
          )}
        </b>
      </p>
      <p>
        Pages keep their records and send them again, for 7 days unless they set another time.{' '}
        {fixOf(problem)}
      </p>
    </div>
  );
};
