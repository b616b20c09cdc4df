/** Gives each cell of a table the heading of its column, which a phone shows beside it. */
export const labelCells = (markdown) => {
  markdown.core.ruler.push('label-cells', ({ tokens }) => {
    let labels = [];
    let column = 0;
    tokens.forEach((token, index) => {
      if (token.type === 'thead_open') labels = [];
      if (token.type === 'tr_open') column = 0;
      if (token.type === 'th_open') labels.push(tokens[index + 1].content.replaceAll('`', ''));
      if (token.type === 'td_open') token.attrSet('data-label', labels[column++] ?? '');
    });
  });
};
