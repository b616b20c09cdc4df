import { Component, type FunctionComponent } from 'preact';

/** A view that is drawn again only if one of its properties has changed: most of a page stays as rows flow. */
export const still = <Props extends object>(View: FunctionComponent<Props>) =>
  class Still extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      return (Object.keys(next) as (keyof Props)[]).some((name) => next[name] !== this.props[name]);
    }

    override render() {
      return <View {...this.props} />;
    }
  };
