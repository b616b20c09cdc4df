import { LongText } from '../../../../show/text.js';

/** What the service says. What stands in backticks is code. */
export const Message = ({ of }: { of: string }) => (
  <>
    {of.split('`').map((part, at, all) =>
      at % 2 && at < all.length - 1 ? (
        <code>
          <LongText of={part} />
        </code>
      ) : (
        <LongText of={at % 2 ? `\`${part}` : part} />
      ),
    )}
  </>
);
